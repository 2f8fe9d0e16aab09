// Failover: the candidate of the lowest priority number, always the same one while it is healthy.
import * as states from '#routing/state/state.ts'
import type { Strategy } from '#routing/state/strategy.ts'

// Constants of this file, for the reason that runtime/answer/answer.ts gives.
const { PoolCell, priorityCells } = states

export const failover: Strategy = {
  name: 'failover',
  aliases: [],
  code: 2,
  select({ pools, firstByPriority }, { poolIndex, family }) {
    // One cell, written whole: the list is ranked when health changes, not when a query comes.
    const copy = pools[poolIndex * PoolCell.Words + PoolCell.Version]! & 1
    return firstByPriority[poolIndex * priorityCells + copy * 2 + family]!
  },
}
