// A finding of a rule, before it becomes a diagnostic: inside one file, or between files.
import type { LocalSpan, Place } from './diagnostic.ts'
import type { DiagnosticCode } from './diagnostics.ts'

/** Found while reading one file; kept with it, under whatever path the file appears. */
export interface LocalFinding {
  readonly code: DiagnosticCode
  readonly args: readonly string[]
  readonly suggestion: string
  readonly spans: readonly [LocalSpan, ...LocalSpan[]]
}

/** Details of a finding beside its code. */
export interface FindingDetail {
  readonly args?: readonly string[]
  readonly suggestion?: string | undefined
  /** The other place, when two conflict. */
  readonly other?: Place
}

/** A fault of a text, without its place. */
export interface TextFault {
  readonly code: DiagnosticCode
  readonly args: readonly string[]
  readonly suggestion: string
}

/** How a rule about one object reports. */
export type Report = (code: DiagnosticCode, place: Place, detail?: FindingDetail) => void

export function reportFault(fault: TextFault | undefined, place: Place, report: Report): void {
  if (fault !== undefined) report(fault.code, place, fault)
}
