// Applies `state.healthPolicy`: this node's probes decide alone, or those of all nodes.
import type { Knowledge } from '#health/verdict/member-track.ts'

/** What one node's probes say of a member. */
export interface Vote {
  readonly healthy: boolean
  readonly score: number
}

export interface OwnVote extends Vote {
  readonly knowledge: Knowledge
}

/**
 * @param own this node's word: the last one it had, or healthy before its first probe
 * @param peers the words of other nodes that are not stale
 * @param quorumMinPercent of the words that must say healthy, for `global-quorum`
 */
type Policy = (own: OwnVote, peers: readonly Vote[], quorumMinPercent: number) => Vote

/** Under each policy the last word of this node stands when no node knows. */
const policies = {
  /** Its own word while that is fresh; the others' when it is not. */
  'local-or-global-fallback': (own, peers) => (own.knowledge === 'known' ? own : anyOf(peers, own)),
  'local-only': (own) => own,
  /** Its own word while it has one, however old; the others' before its first probe. */
  'prefer-local': (own, peers) => (own.knowledge === 'unknown' ? anyOf(peers, own) : own),
  'global-any-healthy': (own, peers) => anyOf(votesOf(own, peers), own),
  'global-quorum': (own, peers, quorumMinPercent) => {
    const votes = votesOf(own, peers)
    if (votes.length === 0) return own
    const inFavour = votes.filter(({ healthy }) => healthy).length
    const score = votes.reduce((sum, vote) => sum + vote.score, 0) / votes.length
    return { healthy: inFavour * 100 >= quorumMinPercent * votes.length, score }
  },
} as const satisfies Readonly<Record<string, Policy>>

export type HealthPolicy = keyof typeof policies
export const healthPolicies = Object.freeze(Object.keys(policies)) as readonly HealthPolicy[]

export function decide(
  policy: HealthPolicy,
  own: OwnVote,
  peers: readonly Vote[],
  quorumMinPercent: number,
): Vote {
  return policies[policy](own, peers, quorumMinPercent)
}

/** Whether the words of its site stand for those of a node that does not probe. */
export function goesBySite(policy: HealthPolicy): boolean {
  return policy === 'prefer-local' || policy === 'local-or-global-fallback'
}

/**
 * For a member that this node leaves to others. The words of its site stand for its own, as far as
 * the policy goes by that.
 *
 * @param last what was believed of it until now
 * @param site the words of nodes of this node's site, which are among `peers`
 */
export function decideUnprobed(
  policy: HealthPolicy,
  last: Vote,
  { site, peers }: { readonly site: readonly Vote[]; readonly peers: readonly Vote[] },
  quorumMinPercent: number,
): Vote {
  if (goesBySite(policy) && site.length > 0) return anyOf(site, last)
  return decide(policy, { ...last, knowledge: 'unknown' }, peers, quorumMinPercent)
}

/** This node votes with the others while what it knows is fresh. */
function votesOf(own: OwnVote, peers: readonly Vote[]): readonly Vote[] {
  return own.knowledge === 'known' ? [own, ...peers] : peers
}

/** Healthy if any node can reach it, with the best score. */
function anyOf(votes: readonly Vote[], otherwise: Vote): Vote {
  if (votes.length === 0) return otherwise
  const inFavour = votes.filter(({ healthy }) => healthy)
  const counted = inFavour.length > 0 ? inFavour : votes
  return { healthy: inFavour.length > 0, score: Math.max(...counted.map(({ score }) => score)) }
}
