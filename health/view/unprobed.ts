// Decides what to believe of a member that this node leaves to others: their words, by the policy.
import type { FollowedHealth, MemberHealth } from './member-health.ts'
import type { PeerVote } from './peer-table.ts'
import { decideUnprobed, goesBySite } from './policy.ts'
import type { HealthPolicy } from './policy.ts'

export interface UnprobedRule {
  readonly policy: HealthPolicy
  /** 1 to 100. */
  readonly quorumMinPercent: number
}

export type Believed = Omit<FollowedHealth, 'memberUid' | 'ipAddress'>

/**
 * @param last what was believed until now: it stands while nobody has a word
 * @param site those of the words that come from nodes of this node's site
 */
export function believe(
  { policy, quorumMinPercent }: UnprobedRule,
  last: MemberHealth,
  site: readonly PeerVote[],
  peers: readonly PeerVote[],
): Believed {
  const counted = goesBySite(policy) && site.length > 0 ? site : peers
  if (counted.length === 0) return last
  const { healthy, score } = decideUnprobed(policy, last, { site, peers }, quorumMinPercent)
  const agreeing = counted.filter((vote) => vote.healthy === healthy)
  const times = agreeing.map(({ sinceMs }) => sinceMs).filter((sinceMs) => sinceMs > 0)
  return {
    healthy,
    score,
    // A gate is open here when it is where somebody counts.
    isWarming: agreeing.length > 0 && agreeing.every(({ isWarming }) => isWarming),
    reason: healthy ? '' : (agreeing.find(({ reason }) => reason !== '')?.reason ?? ''),
    sinceMs: times.length === 0 ? 0 : Math.min(...times),
  }
}
