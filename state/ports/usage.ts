// The port to usage: what each tenant used, by the hour.
import type { StoreCall } from './store-result.ts'

export interface UsageRecord {
  readonly tenantId: string
  /** The hour, `YYYY-MM-DDTHH` in UTC. Sorting as text is sorting by time. */
  readonly period: string
  readonly dnsQueries: number
  readonly apiCalls: number
}

export interface UsageBatch {
  /** Unique: a batch that was counted already is ignored, so that retries add nothing. */
  readonly id: string
  readonly nowMs: number
  /** Usage since the previous batch; the same tenant and hour may occur twice. */
  readonly records: readonly UsageRecord[]
}

export const usageLimits = {
  recordsPerBatchMax: 10_000,
  /** A year of hours and some. */
  rangeRecordsMax: 10_000,
  /** How long a batch's id is remembered. */
  batchKeptMs: 24 * 3_600_000,
} as const

export interface Usage {
  /** Adds the whole batch or nothing. */
  readonly add: (batch: UsageBatch) => StoreCall<void>
  /** One tenant's hours, `from` and `to` included, oldest first. */
  readonly range: (
    tenantId: string,
    from: string,
    to: string,
  ) => StoreCall<readonly UsageRecord[], 'range-too-wide'>
}
