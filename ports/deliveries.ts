// Defines the port to changes that are delivered to nodes in waves.
import type { Result } from '#lib/result.ts'

interface ShownPlace {
  readonly seq: number
  readonly digest: string
  readonly commit: string
}

export interface ShownWave {
  /** Labels as written; null: the wave is a share of the nodes. */
  readonly nodes: string | null
  readonly percent: number | null
  readonly holdSeconds: number
  readonly hasBegun: boolean
  readonly adopted: number
  readonly waiting: number
  readonly refused: number
  readonly silent: number
  /** True: its nodes compute with the target, and do not answer from it yet. */
  readonly isShadow: boolean
  /** Results of that so far; null: none. */
  readonly shadow: ShownShadow | null
}

interface ShownShadow {
  /** Queries that were compared. */
  readonly compared: number
  /** Percent of them with another answer. */
  readonly changed: number
}

export interface ShownDelivery {
  readonly channel: string
  readonly phase: (typeof shownPhases)[number]
  /** Bundle of the nodes that are in no wave. */
  readonly good: ShownPlace
  /** Bundle under delivery, or stopped; null: none. */
  readonly target: ShownPlace | null
  /** Empty: it went to all nodes at once. */
  readonly waves: readonly ShownWave[]
  /** The plan in short, such as `moved=12.4%; names=3`; '': it is not known. */
  readonly promised: string
  readonly onFailure: 'return' | 'hold' | null
  readonly phaseSinceMs: number
  readonly verdict: {
    readonly gate: string
    /** Number of the wave, from 1. */
    readonly wave: number
    readonly value: number
    readonly limit: number
    readonly atMs: number
  } | null
  /**
   * Reason of the wait, for people; '': the delivery does not wait, or another control node
   * decides.
   */
  readonly waitsFor: string
  /** Name of the control node that decides. */
  readonly decidedBy: string
  /** Why the delivery stands still: the store cannot be used; '': it can. */
  readonly fault: string
}

/** Equal to those of `fleet/delivery/state.ts`, which a test checks. */
export const shownPhases = ['done', 'rolling', 'paused', 'held', 'returned', 'aborted'] as const

/** Equal to those of `fleet/delivery/machine.ts`, which a test checks. */
export const shownActions = ['pause', 'resume', 'promote', 'abort'] as const
export type ShownAction = (typeof shownActions)[number]

export interface Deliveries {
  /** Lists the delivery of each channel that has one. */
  readonly list: () => readonly ShownDelivery[]
  /**
   * Acts on a delivery. `unknown`: the channel has none. `impossible`: not now, as the message
   * explains. `away`: the database cannot be used.
   */
  readonly act: (
    channel: string,
    action: ShownAction,
  ) => Promise<Result<ShownDelivery, { readonly code: ActionFault; readonly message: string }>>
}

type ActionFault = 'unknown' | 'impossible' | 'away'
