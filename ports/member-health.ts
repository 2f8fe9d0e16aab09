// Defines the port to the health of members, joined from probes, peers and external signals.
import type { ExternalSignalMode } from '#bundle/format/model.ts'

export interface AskedMember {
  readonly uid: string
  /** In the form of RFC 5952; empty: the member has a host name. */
  readonly ipAddress: string
  /** In lower case with its last dot; empty or left out: the member has an address. */
  readonly hostname?: string
  /** The tenant of its pool; left out where it has an address. */
  readonly tenant?: string
  readonly externalSignalMode: ExternalSignalMode
}

/** A member in the view of one node. */
export interface NodeView {
  readonly node: string
  readonly healthy: boolean
  /** 0 to 1; less than 1 for an unhealthy member. */
  readonly score: number
  /** Why it is unhealthy; empty: it is healthy, or the node gives no reason. */
  readonly reason: string
  /** Time of the last change, Unix epoch; 0: unknown. */
  readonly sinceMs: number
}

export interface KnownHealth {
  /** True: a probe or an outside monitor watches it; false: it is answered unwatched. */
  readonly isProbed: boolean
  /**
   * Whether it is answered: by probes, by other nodes as its policy says, and by outside monitors.
   */
  readonly healthy: boolean
  /** By this node's probes, 0 to 1. Without scoring 1, or 0 when unhealthy. */
  readonly score: number
  /** By this node's probes; 0: there are too few. */
  readonly rttMs: number
  /** The least of all nodes; null: the node is alone. */
  readonly globalRttMs: number | null
  readonly isWarming: boolean
  readonly warmupPasses: number
  /** Why this node finds it unhealthy; empty: it does not. */
  readonly reason: string
  /** Time of the last change in this node's view, Unix epoch; 0: unknown. */
  readonly sinceMs: number
  /** End of this node's last probe, Unix epoch; 0: there was none. */
  readonly lastCheckedMs: number
  /** Views of nodes: this one, then others that were heard lately. */
  readonly nodes: readonly NodeView[]
  /** Addresses of a member with a host name. The other fields are those of its best address. */
  readonly resolved?: ResolvedHostname
}

interface ResolvedHostname {
  readonly addresses: readonly { readonly address: string; readonly healthy: boolean }[]
  /** When they were resolved, Unix epoch; 0: never, or there is no need. */
  readonly atMs: number
  /** Why the last lookup failed; empty: it succeeded. */
  readonly error: string
}

export interface MemberHealthView {
  /** Name of this node. */
  readonly node: string
  /** Health of a member; without probes and monitors it is healthy. */
  readonly of: (member: AskedMember) => KnownHealth
  /** Calls `handler` with members whose health may have changed. Returns what unsubscribes. */
  readonly onChange: (handler: (memberUids: readonly string[]) => void) => () => void
}

/** The health before the first probe, and without probes: healthy. */
export function unprobed(node: string, healthy = true, reason = '', sinceMs = 0): KnownHealth {
  const score = scoreOf(healthy)
  return {
    isProbed: !healthy,
    healthy,
    score,
    rttMs: 0,
    globalRttMs: null,
    isWarming: false,
    warmupPasses: 0,
    reason,
    sinceMs,
    lastCheckedMs: 0,
    nodes: [{ node, healthy, score, reason, sinceMs }],
  }
}

/** Without scoring a probe counts as 1, which is no score of a member that is down. */
export function scoreOf(healthy: boolean, score = 1): number {
  return !healthy && score === 1 ? 0 : score
}

/** Reported health is a roll-up: one node that reaches the member is enough. */
export function isReachable({ nodes }: KnownHealth): boolean {
  return nodes.some(({ healthy }) => healthy)
}
