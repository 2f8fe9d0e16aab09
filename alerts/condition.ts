// Defines the type of a condition: a row of the table in conditions.ts.
import type { Severity } from '#state/ports/alerts.ts'
import type { AlertFacts } from './facts.ts'

/** A single fault that a condition found. */
export interface Found {
  /** `operatorId`: it concerns the installation. */
  readonly tenantId: string
  readonly subject: string
  readonly title: string
  readonly detail: string
  /** Left out: that of the condition. */
  readonly severity?: Severity
}

/** Limits that an operator may set. */
export interface ConditionSettings {
  /** A geo database is stale at this age. */
  readonly geoMaxAgeMs: number
  /** How long before their end certificates and licences are reported. */
  readonly expiryWarningMs: number
  /** An alert opens when less of the disk is free; 0: never. */
  readonly diskFreeMinPercent: number
}

export interface Condition {
  readonly name: string
  readonly severity: Severity
  /** `tenant`: the tenant is notified as well as the operator. */
  readonly audience: 'tenant' | 'operator'
  /** True: an alert for each node; false: one for all nodes that find it. */
  readonly isOfNode: boolean
  /** How long it must hold before an alert opens. */
  readonly holdMs: number
  /** How long it must be over before the alert ends. */
  readonly clearMs: number
  /** Description for the reference, one line. */
  readonly says: string
  readonly find: (facts: AlertFacts, settings: ConditionSettings) => readonly Found[]
}
