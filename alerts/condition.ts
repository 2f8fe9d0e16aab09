// The type of a condition: one row of the table in conditions.ts.
import type { Severity } from '#state/ports/alerts.ts'
import type { AlertFacts } from './facts.ts'

/** One thing that is wrong now. */
export interface Found {
  /** `operatorId`: it concerns the installation. */
  readonly tenantId: string
  readonly subject: string
  readonly title: string
  readonly detail: string
  /** Default: that of the condition. */
  readonly severity?: Severity
}

/** What an operator may set. */
export interface ConditionSettings {
  /** A geo database is stale at this age. */
  readonly geoMaxAgeMs: number
  /** So long before their end certificates and licences are told of. */
  readonly expiryWarningMs: number
  /** With less of the disk free an alert opens; 0: none does. */
  readonly diskFreeMinPercent: number
}

export interface Condition {
  readonly name: string
  readonly severity: Severity
  /** `tenant`: the tenant hears of it besides the operator. */
  readonly audience: 'tenant' | 'operator'
  /** Each node has its own; otherwise what several nodes find is one alert. */
  readonly isOfNode: boolean
  /** It must hold for so long before an alert opens. */
  readonly holdMs: number
  /** It must be over for so long before the alert ends. */
  readonly clearMs: number
  /** One line for the reference. */
  readonly says: string
  readonly find: (facts: AlertFacts, settings: ConditionSettings) => readonly Found[]
}
