// Applies `state.healthPolicy`: this node's probes decide alone, or those of all nodes.
import type { Knowledge } from '#health/verdict/member-track.ts'

/** Verdict of one node's probes on a member. */
export interface Vote {
  readonly healthy: boolean
  readonly score: number
}

interface OwnVote extends Vote {
  readonly knowledge: Knowledge
}

/**
 * @param own the last verdict of this node, or healthy before its first probe
 *
 * @param peers fresh verdicts of other nodes
 * @param quorumMinPercent share that must be healthy, for `global-quorum`
 */
type Policy = (own: OwnVote, peers: readonly Vote[], quorumMinPercent: number) => Vote

/** Under each policy, the last verdict of this node stands when no node has a fresh one. */
const policies = {
  /** The node's own verdict while fresh, else those of others. */
  'local-or-global-fallback': (own, peers) => (own.knowledge === 'known' ? own : anyOf(peers, own)),
  'local-only': (own) => own,
  /** The node's own verdict, however old; those of others before its first probe. */
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

/** Whether the verdicts of its site replace those of a node that does not probe. */
export function goesBySite(policy: HealthPolicy): boolean {
  return policy === 'prefer-local' || policy === 'local-or-global-fallback'
}

/**
 * Decides about a member that this node leaves to others. Verdicts of its site replace its own,
 * where the policy uses that.
 *
 * @param last the verdict until now
 * @param site verdicts of nodes of this node's site, which are among `peers`
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

/** Lists the votes: this node's own one counts while it is fresh. */
function votesOf(own: OwnVote, peers: readonly Vote[]): readonly Vote[] {
  return own.knowledge === 'known' ? [own, ...peers] : peers
}

/** Healthy if any node reaches the member, with the best score. */
function anyOf(votes: readonly Vote[], otherwise: Vote): Vote {
  if (votes.length === 0) return otherwise
  const inFavour = votes.filter(({ healthy }) => healthy)
  const counted = inFavour.length > 0 ? inFavour : votes
  return { healthy: inFavour.length > 0, score: Math.max(...counted.map(({ score }) => score)) }
}
