// failover in a chain: the candidate of the lowest priority number; of equals the one with the
// better score.
import type { Chain } from '#routing/chain/chain.ts'
import type { Filter } from '#routing/choose/step.ts'

export const failoverFilter: Filter = {
  name: 'failover',
  aliases: [],
  kind: 'selecting',
  bind: () => sortByPriority,
}

function sortByPriority(chain: Chain): void {
  const { bundle, state, members, keys, count } = chain
  for (let i = 0; i < count; i++) {
    const priority = bundle.memberPriority[members[i]!]!
    // 0 is unset and comes last (document A). A score is at most 1, a priority a whole number.
    const rank = priority === 0 ? lastRank : priority * 2
    keys[i] = state.memberScore[members[i]!]! - rank
  }
  chain.sortByKeys()
}

/** Behind every priority that a bundle may hold. */
const lastRank = 2 ** 33
