// The port to regressions of rollouts that a node has seen, for all nodes to act on.
import type { StoreCall } from './store-result.ts'

export interface SharedTrip {
  readonly rolloutUid: string
  /** Start of the attempt, Unix epoch: another start is another attempt. */
  readonly startAtMs: number
  /** When it was seen, Unix epoch. */
  readonly atMs: number
  /** A sentence for people. */
  readonly reason: string
  /** The node that has seen it. */
  readonly node: string
}

export const rolloutTripLimits = {
  /** The commit that makes it last is written long before. */
  keptMs: 24 * 3_600_000,
  /** As many as a bundle has rollouts; one more is told and not kept. */
  tripsMax: 10_000,
  reasonLengthMax: 300,
} as const

/** Lost with a restart of the store; the configuration has what must last. */
export interface RolloutTrips {
  /** Tells all nodes. The store keeps the first trip of an attempt. */
  readonly tell: (trip: SharedTrip) => StoreCall<undefined>
  /**
   * `handler` is called with each trip that is told, here or on another node, and with those that
   * are kept whenever the store is reached: with some more than once.
   */
  readonly subscribe: (handler: (trip: SharedTrip) => void) => () => void
}
