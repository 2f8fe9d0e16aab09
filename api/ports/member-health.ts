// The port to the health of members, joined from probes, peers and external signals.
import type { ExternalSignalMode } from '#bundle/format/model.ts'

export interface AskedMember {
  readonly uid: string
  /** RFC 5952; empty: it has a host name. */
  readonly ipAddress: string
  /** Lower case, with its last dot; empty or left out: it has an address. */
  readonly hostname?: string
  readonly externalSignalMode: ExternalSignalMode
}

/** A member as one node sees it. */
export interface NodeView {
  readonly node: string
  readonly healthy: boolean
  /** 0 to 1; less than 1 where it is not healthy. */
  readonly score: number
  /** Why it is not healthy; empty: it is, or the node does not say why. */
  readonly reason: string
  /** When it became what it is, Unix epoch; 0: not known. */
  readonly sinceMs: number
}

export interface KnownHealth {
  /** A probe or an outside monitor looks at it; false: it is answered, and nobody knows. */
  readonly isProbed: boolean
  /** What this node answers by: probes, other nodes by its policy, and the outside monitors. */
  readonly healthy: boolean
  /** From this node's probes, 0 to 1; while scoring is off, 1 or, where it is not healthy, 0. */
  readonly score: number
  /** From this node's probes; 0: there are too few. */
  readonly rttMs: number
  /** The least of all nodes; null: the node is alone. */
  readonly globalRttMs: number | null
  readonly isWarming: boolean
  readonly warmupPasses: number
  /** Why this node does not find it healthy; empty: it does. */
  readonly reason: string
  /** When it became what this node finds, Unix epoch; 0: not known. */
  readonly sinceMs: number
  /** When this node's last probe ended; Unix epoch. 0: none has. */
  readonly lastCheckedMs: number
  /** As each finds it: this node, then others that were heard lately. */
  readonly nodes: readonly NodeView[]
  /** For a member with a host name: its addresses. The other fields are of the best one. */
  readonly resolved?: ResolvedHostname
}

export interface ResolvedHostname {
  readonly addresses: readonly { readonly address: string; readonly healthy: boolean }[]
  /** When they were found, Unix epoch; 0: never, or nobody has to look. */
  readonly atMs: number
  /** Why the last lookup failed; empty: it did not. */
  readonly error: string
}

export interface MemberHealthView {
  /** This node's name. */
  readonly node: string
  /** A member that nobody probes and no monitor speaks of is healthy. */
  readonly of: (member: AskedMember) => KnownHealth
  /** Told of members of whom `of` may say something else. Returns what ends it. */
  readonly onChange: (handler: (memberUids: readonly string[]) => void) => () => void
}

/** Healthy before the first probe, and where there are no probes. */
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

/** Without scoring every probe counts as 1, which nobody may read as the score of who is down. */
export function scoreOf(healthy: boolean, score = 1): number {
  return !healthy && score === 1 ? 0 : score
}

/** Reported health is a roll-up: one node that reaches the member is enough. */
export function isReachable({ nodes }: KnownHealth): boolean {
  return nodes.some(({ healthy }) => healthy)
}
