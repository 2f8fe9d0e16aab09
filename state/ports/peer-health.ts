// The port to the health bus: each node's verdicts, sent to the others.
import type { VerdictOwner } from './health-verdicts.ts'

/** What one node's own probes say of one member. */
export interface PeerVerdict extends VerdictOwner {
  /** The node's name. */
  readonly node: string
  readonly healthy: boolean
  /** 0 to 1; 1 while scoring is off. */
  readonly score: number
  /** Its mean round trip time; 0: too few probes. */
  readonly rttMs: number
  /** Why it is unhealthy; nodes of older versions say nothing. */
  readonly reason?: string
  /** When its verdict became what it is, Unix epoch; as `reason`. */
  readonly sinceMs?: number
  /** It has not passed its warm-up gate there; left out: it has. */
  readonly isWarming?: boolean
  /** When the node last confirmed it, Unix epoch. */
  readonly atMs: number
}

/**
 * One word of one node. It also confirms all that the node said before and has not taken back: a
 * node with nothing new sends empty lists, and its old words stay young.
 */
export interface PeerUpdate {
  readonly node: string
  /** Where it is: nodes of one site share members among them. Older versions say nothing. */
  readonly site?: string
  /** It only probes; left out: it is a node. */
  readonly isAgent?: boolean
  readonly changed: readonly PeerVerdict[]
  /** Members that the node no longer judges. */
  readonly withdrawn: readonly VerdictOwner[]
  readonly atMs: number
}

/** Each method rejects when the bus is away; every node then goes on with its own view. */
export interface PeerHealth {
  readonly publish: (update: PeerUpdate) => Promise<void>
  /** What all nodes have said and not taken back, with the time of the last confirmation. */
  readonly load: () => Promise<readonly PeerVerdict[]>
  /**
   * `handler` is called with every update, the caller's own too; `onGap` whenever updates may have
   * been missed: the bus was away, and what `load` gives now is the truth.
   */
  readonly subscribe: (handler: (update: PeerUpdate) => void, onGap?: () => void) => () => void
}
