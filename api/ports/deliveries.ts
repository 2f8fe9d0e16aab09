// The port to changes that reach the nodes of the fleet in waves.
import type { Result } from '#lib/result.ts'

export interface ShownPlace {
  readonly seq: number
  readonly digest: string
  readonly commit: string
}

export interface ShownWave {
  /** Labels, as written; null: it is a share. */
  readonly nodes: string | null
  readonly percent: number | null
  readonly holdSeconds: number
  readonly hasBegun: boolean
  readonly adopted: number
  readonly waiting: number
  readonly refused: number
  readonly silent: number
  /** Its nodes compute with the target and do not answer from it yet. */
  readonly isShadow: boolean
  /** What came of that so far, or in the end; null: nothing. */
  readonly shadow: ShownShadow | null
}

export interface ShownShadow {
  /** Queries. */
  readonly compared: number
  /** Percent. */
  readonly changed: number
}

export interface ShownDelivery {
  readonly channel: string
  readonly phase: (typeof shownPhases)[number]
  /** What nodes are given that are in no wave. */
  readonly good: ShownPlace
  /** What is on its way, or was stopped. */
  readonly target: ShownPlace | null
  /** Empty: it went to all at once. */
  readonly waves: readonly ShownWave[]
  /** Such as `moved=12.4%; names=3`; '': it is not known. */
  readonly promised: string
  readonly onFailure: 'return' | 'hold' | null
  readonly phaseSinceMs: number
  readonly verdict: {
    readonly gate: string
    /** From 1. */
    readonly wave: number
    readonly value: number
    readonly limit: number
    readonly atMs: number
  } | null
  /** For people; '': nothing, or another control node decides. */
  readonly waitsFor: string
  /** Name of the control node. */
  readonly decidedBy: string
  /** Why it stands still: the store cannot be used; '': it can. */
  readonly fault: string
}

/** As in `fleet/delivery/state.ts`; a test compares them. */
export const shownPhases = ['done', 'rolling', 'paused', 'held', 'returned', 'aborted'] as const

/** As in `fleet/delivery/machine.ts`; a test compares them. */
export const shownActions = ['pause', 'resume', 'promote', 'abort'] as const
export type ShownAction = (typeof shownActions)[number]

export interface Deliveries {
  /** One for each channel that has a delivery. */
  readonly list: () => readonly ShownDelivery[]
  /**
   * `unknown`: the channel has none. `impossible`: not now; the message says why. `away`: the
   * database cannot be used.
   */
  readonly act: (
    channel: string,
    action: ShownAction,
  ) => Promise<Result<ShownDelivery, { readonly code: ActionFault; readonly message: string }>>
}

export type ActionFault = 'unknown' | 'impossible' | 'away'
