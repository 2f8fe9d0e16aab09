// failover: the candidate of the lowest priority number, the same one while it is healthy; of
// equals the better score.
import type { Chain } from '#routing/chain/chain.ts'
import type { PlainWay, Way } from '#routing/choose/way.ts'
import * as states from '#routing/state/state.ts'

// Constants of this file, for the reason that answer/answer.ts gives.
const { PoolCell, priorityCells } = states

/** One cell, written whole: the list is ranked when health changes, not when a query comes. */
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

/** Behind every priority that a bundle may hold. */
const lastRank = 2 ** 33
