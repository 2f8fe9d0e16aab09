// Round robin: each answer names the next candidate. All threads share one cursor.
import * as states from '#routing/state/state.ts'
import { firstCandidate } from '#routing/state/state.ts'
import type { Strategy } from '#routing/state/strategy.ts'

// A constant of this file, for the reason that runtime/answer/answer.ts gives.
const { PoolCell } = states

export const roundRobin: Strategy = {
  name: 'round-robin',
  aliases: [],
  code: 0,
  select(state, { serviceIndex, poolIndex, family }) {
    const { pools, candidates } = state
    const row = poolIndex * PoolCell.Words
    for (;;) {
      const version = pools[row + PoolCell.Version]!
      const copy = version & 1
      const count = pools[row + PoolCell.Count + copy * 2 + family]!
      if (count === 0) return -1
      const turn = Atomics.add(state.serviceCursor, serviceIndex * 2 + family, 1) >>> 0
      const entry = firstCandidate(state, poolIndex, copy, family) + (turn % count)
      const member = candidates[entry]!
      if (Atomics.load(pools, row + PoolCell.Version) === version) return member
    }
  },
}
