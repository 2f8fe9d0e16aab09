// The port to what this node knows of rollouts beyond their files and the clock.
import type { RolloutState } from '#routing/time/rollout.ts'

export interface SeenRollout {
  readonly state: RolloutState
  readonly stepIndex: number
  /** In effect here. */
  readonly weight: number
  /** Why it is held or over; empty while it is on its way. */
  readonly reason: string
  /** Milliseconds; null: not measured. */
  readonly baselineRttMs: number | null
}

export interface OverlayView {
  /** undefined: this node does not act on it. */
  readonly rollout: (uid: string) => SeenRollout | undefined
}
