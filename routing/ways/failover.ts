// failover: picks the candidate with the lowest priority number as long as it is healthy; among
// equals the better score.
import type { Chain } from '#routing/chain/chain.ts'
import type { PlainWay, Way } from '#routing/choose/way.ts'
import * as states from '#routing/state/state.ts'

// Local constants are faster than imports: see answer/answer.ts.
const { PoolCell, priorityCells } = states

/** Reads one cell: the list is ranked when health changes, not when a query comes. */
const plain: PlainWay = {
  code: 2,
  select({ pools, firstByPriority }, { poolIndex, family }) {
    const copy = pools[poolIndex * PoolCell.Words + PoolCell.Version]! & 1
    return firstByPriority[poolIndex * priorityCells + copy * 2 + family]!
  },
}

export const failover: Way = {
  name: 'failover',
  aliases: [],
  usedAs: ['algorithm', 'filter'],
  kind: 'selecting',
  leaves: 'all',
  picksAny: false,
  repeats: true,
  needs: [],
  likeness: [],
  page: {
    does: 'takes the lowest `priority`; 0 is unset and comes last; of equals the better score',
    settings: "members' `priority`",
    scope: '0',
  },
  plain,
  bind: () => sortByPriority,
}

function sortByPriority(chain: Chain): void {
  const { bundle, state, members, keys, count } = chain
  for (let i = 0; i < count; i++) {
    const priority = bundle.memberPriority[members[i]!]!
    // 0 is unset and comes last. A score is at most 1, a priority a whole number.
    const rank = priority === 0 ? lastRank : priority * 2
    keys[i] = state.memberScore[members[i]!]! - rank
  }
  chain.sortByKeys()
}

/** Greater than every priority in a bundle. */
const lastRank = 2 ** 33
