// Defines the port to what this node knows of rollouts beyond their files and the clock.
import type { RolloutTrip } from '#routing/time/rollout.ts'

export interface OverlayView {
  /**
   * A regression that some node saw, and that may not be in the file yet; null: none. `startAtMs`
   * identifies the attempt.
   */
  readonly trip: (rolloutUid: string, startAtMs: number) => RolloutTrip | null
  /** Milliseconds; null: this node has not measured it. */
  readonly baselineRttMs: (rolloutUid: string) => number | null
  /** Calls `handler` after a regression. Returns the function that unsubscribes. */
  readonly onRegression: (handler: () => void) => () => void
}
