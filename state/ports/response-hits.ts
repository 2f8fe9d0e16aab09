// The port to the hits of response rules and redirects, by their ids, summed over all nodes.
import type { StoreCall } from './store-result.ts'

export interface ResponseHitBatch {
  /** Unique: a batch that was counted already is passed over, so that a retry adds nothing. */
  readonly id: string
  readonly nowMs: number
  /** What came to pass since the batch before, by the uid of the rule. */
  readonly hits: ReadonlyMap<string, number>
}

export const responseHitLimits = {
  rulesPerBatchMax: 10_000,
  /** A batch's id is known for so long. */
  batchKeptMs: 24 * 3_600_000,
  /** How long the count of a rule without hits is kept: no node may have seen it removed. */
  countKeptMs: 400 * 24 * 3_600_000,
} as const

export interface ResponseHits {
  /** Adds all of the batch or nothing of it. */
  readonly add: (batch: ResponseHitBatch) => StoreCall<void>
  /** Drops the counts of rules that are gone. */
  readonly forget: (uids: readonly string[]) => StoreCall<void>
  /** By the uid of the rule; those that nobody hit are not among them. */
  readonly totals: () => StoreCall<ReadonlyMap<string, number>>
}

/** Over all nodes, by the uid of the rule; where the store is away, as far as this node knows. */
export type ResponseHitTotals = () => Promise<ReadonlyMap<string, number>>
