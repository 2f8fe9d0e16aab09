// The port to regressions of rollouts: seen by one node, acted on by all.
import type { StoreCall } from './store-result.ts'

export interface SharedTrip {
  readonly rolloutUid: string
  /** Start of the attempt, Unix epoch: a new start is a new attempt. */
  readonly startAtMs: number
  /** Time of the observation, Unix epoch. */
  readonly atMs: number
  /** A sentence for people. */
  readonly reason: string
  /** The observing node. */
  readonly node: string
}

export const rolloutTripLimits = {
  /** Far longer than it takes to write the commit that makes the trip permanent. */
  keptMs: 24 * 3_600_000,
  /** As many as a bundle has rollouts; more are sent but not kept. */
  tripsMax: 10_000,
  reasonLengthMax: 300,
} as const

/** Lost with a restart of the store; lasting facts are in the configuration. */
export interface RolloutTrips {
  /** Sends a trip to all nodes. The store keeps the first trip of an attempt. */
  readonly tell: (trip: SharedTrip) => StoreCall<undefined>
  /**
   * `handler` is called with each trip sent here or on another node, and with the kept ones
   * whenever the store is reached: possibly more than once.
   */
  readonly subscribe: (handler: (trip: SharedTrip) => void) => () => void
}
