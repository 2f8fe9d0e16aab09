// The port to the hits of response rules and redirects, by their ids, summed over all nodes.
import type { StoreCall } from './store-result.ts'

export interface ResponseHitBatch {
  /** Unique: a batch that was counted already is ignored, so that retries add nothing. */
  readonly id: string
  readonly nowMs: number
  /** Hits since the previous batch, by the uid of the rule. */
  readonly hits: ReadonlyMap<string, number>
}

export const responseHitLimits = {
  rulesPerBatchMax: 10_000,
  /** How long a batch's id is remembered. */
  batchKeptMs: 24 * 3_600_000,
  /** How long the count of a rule without hits is kept: possibly no node saw its removal. */
  countKeptMs: 400 * 24 * 3_600_000,
} as const

export interface ResponseHits {
  /** Adds the whole batch or nothing. */
  readonly add: (batch: ResponseHitBatch) => StoreCall<void>
  /** Drops the counts of removed rules. */
  readonly forget: (uids: readonly string[]) => StoreCall<void>
  /** By the uid of the rule, without rules that were never hit. */
  readonly totals: () => StoreCall<ReadonlyMap<string, number>>
}

/** Over all nodes, by the uid of the rule; while the store is away, as far as this node knows. */
export type ResponseHitTotals = () => Promise<ReadonlyMap<string, number>>
