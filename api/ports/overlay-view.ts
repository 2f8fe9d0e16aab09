// The port to what this node knows of rollouts beyond their files and the clock.
import type { RolloutTrip } from '#routing/time/rollout.ts'

export interface OverlayView {
  /**
   * A regression that was seen, here or on another node, and may not be in the file yet; null:
   * none. `startAtMs` says of which attempt.
   */
  readonly trip: (rolloutUid: string, startAtMs: number) => RolloutTrip | null
  /** Milliseconds; null: not measured here. */
  readonly baselineRttMs: (rolloutUid: string) => number | null
  /** `handler` is called after a regression was heard of. Returns what ends it. */
  readonly onRegression: (handler: () => void) => () => void
}
