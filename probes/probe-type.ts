// A type of probe as data: the fields that its checks have, and what can be wrong with them.
import type { CheckFields, WrittenOf } from './check-field.ts'

/** Messages by code: rows of the table of diagnostics, which describes each field further. */
export type CheckDiagnostics = Readonly<Record<string, CheckDiagnostic>>

interface CheckDiagnostic {
  readonly severity: 'error' | 'warning' | 'note'
  readonly message: string
  readonly help: string
  readonly cause: string
  readonly bad: string
  readonly good: string
}

/** Keys from the health check on; a field can be meant as its key or as its value. */
interface CheckPlace {
  readonly path: readonly (string | number)[]
  readonly at: 'key' | 'value'
}

export const valueAt = (...path: CheckPlace['path']): CheckPlace => ({ path, at: 'value' })
export const keyAt = (...path: CheckPlace['path']): CheckPlace => ({ path, at: 'key' })

export type CheckReport<Code extends PropertyKey> = (
  code: Code,
  place: CheckPlace,
  args?: readonly string[],
) => void

/** A check as its type sees it: of any type, with the fields of this one. */
export type CheckOf<Fields extends CheckFields> = WrittenOf<Fields> & {
  readonly type: string
  readonly port: number
}

export interface ProbeType {
  /** As `healthCheck.type` names it; what begins the names of its fields. */
  readonly name: string
  /** Description of a probe for people; the name precedes it. */
  readonly does: string
  /** A number: the port it mostly wants. Left out: it connects to the port of the check. */
  readonly port?: 'ignored' | 'passed on' | number
  /** Present: probes of this type do not measure the distance to a member. */
  readonly measuresNothing?: true
  readonly fields: CheckFields
  /** Fields of other types that its probes look at, too. */
  readonly uses?: readonly string[]
  readonly diagnostics?: CheckDiagnostics
  /** Reports what is wrong with its fields, in a check of whatever type. */
  readonly findFaults?: (check: never, report: never) => void
}
