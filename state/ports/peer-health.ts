// The port to the health bus: each node sends its verdicts to the others.
import type { VerdictOwner } from './health-verdicts.ts'

/** One node's verdict on one member. */
export interface PeerVerdict extends VerdictOwner {
  /** The node's name. */
  readonly node: string
  readonly healthy: boolean
  /** 0 to 1; 1 while scoring is off. */
  readonly score: number
  /** Mean round trip time in milliseconds; 0: too few probes. */
  readonly rttMs: number
  /** Why it is unhealthy; left out by older versions. */
  readonly reason?: string
  /** Since when the verdict holds, Unix epoch; left out by older versions. */
  readonly sinceMs?: number
  /** The member is warming up there; left out: it is not. */
  readonly isWarming?: boolean
  /** When the node last confirmed it, Unix epoch. */
  readonly atMs: number
}

/**
 * One update of one node. It also confirms all earlier verdicts of the node that were not
 * withdrawn: a node without news sends empty lists, and its verdicts stay fresh.
 */
export interface PeerUpdate {
  readonly node: string
  /** Site of the node: nodes of one site divide members among them. Left out by older versions. */
  readonly site?: string
  /** A probe agent, which only probes; left out: a node. */
  readonly isAgent?: boolean
  readonly changed: readonly PeerVerdict[]
  /** Members that the node no longer judges. */
  readonly withdrawn: readonly VerdictOwner[]
  readonly atMs: number
}

/** Each method rejects when the bus is away; every node then continues with its own view. */
export interface PeerHealth {
  readonly publish: (update: PeerUpdate) => Promise<void>
  /** All verdicts that were not withdrawn, with the time of the last confirmation. */
  readonly load: () => Promise<readonly PeerVerdict[]>
  /**
   * `handler` is called with every update, including the caller's own; `onGap` when updates may
   * have been missed because the bus was away: `load` then gives the current state.
   */
  readonly subscribe: (handler: (update: PeerUpdate) => void, onGap?: () => void) => () => void
}
