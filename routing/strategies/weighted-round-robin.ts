// Weighted round robin: a random candidate, each as likely as its share of the weights.
import * as states from '#routing/state/state.ts'
import { firstCandidate } from '#routing/state/state.ts'
import type { Strategy } from '#routing/state/strategy.ts'

// A constant of this file, for the reason that runtime/answer/answer.ts gives.
const { PoolCell } = states

export const weightedRoundRobin: Strategy = {
  name: 'weighted-round-robin',
  aliases: ['wrr', 'weighted_rr'],
  code: 1,
  select(state, { poolIndex, family }, random) {
    const { pools, candidates, weightSums } = state
    const row = poolIndex * PoolCell.Words
    for (;;) {
      const version = pools[row + PoolCell.Version]!
      const copy = version & 1
      const count = pools[row + PoolCell.Count + copy * 2 + family]!
      if (count === 0) return -1
      const first = firstCandidate(state, poolIndex, copy, family)
      const draw = random.below(weightSums[first + count - 1]!)
      // The first candidate whose sum is above the draw.
      let low = 0
      let high = count - 1
      while (low < high) {
        const middle = (low + high) >>> 1
        if (weightSums[first + middle]! > draw) high = middle
        else low = middle + 1
      }
      const member = candidates[first + low]!
      if (Atomics.load(pools, row + PoolCell.Version) === version) return member
    }
  },
}
