// weighted-round-robin: draws a candidate, each as likely as its share of the weights.
import type { Chain } from '#routing/chain/chain.ts'
import type { PlainWay, Way } from '#routing/choose/way.ts'
import * as states from '#routing/state/state.ts'
import { firstCandidate } from '#routing/state/state.ts'

// Local constants are faster than imports: see answer/answer.ts.
const { PoolCell } = states

/** Searches the stored sums of weights, where a chain adds them up. */
const plain: PlainWay = {
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
      const sum = weightSums[first + count - 1]!
      if (sum === 0) return -1
      const draw = random.below(sum)
      // The first candidate whose sum is above the draw: never one of weight 0.
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

export const weightedRoundRobin: Way = {
  name: 'weighted-round-robin',
  aliases: ['wrr', 'weighted_rr'],
  usedAs: ['algorithm', 'filter'],
  kind: 'selecting',
  leaves: 'all',
  picksAny: true,
  weightAs: 'share',
  needs: [],
  likeness: [],
  page: {
    does: 'draws at random, each member as likely as its share of the weights',
    settings: "members' `weight`",
    scope: '0',
  },
  plain,
  bind: () => drawByWeight,
}

function drawByWeight(chain: Chain): void {
  const { members, keys, count, state } = chain
  for (let i = 0; i < count; i++) keys[i] = state.memberShare[members[i]!]!
  drawByKeys(chain)
}

/**
 * Draws as many candidates as a reply holds, without replacement, each as likely as its share of
 * `keys`, which are positive. They come first, in the order of drawing.
 */
export function drawByKeys(chain: Chain): void {
  const { members, keys, count, random } = chain
  const draws = Math.min(chain.answerCount, count)
  let sum = 0
  for (let i = 0; i < count; i++) sum += keys[i]!
  for (let drawn = 0; drawn < draws; drawn++) {
    let rest = ((random.draw() >>> 0) / 4_294_967_296) * sum
    let at = drawn
    while (at < count - 1 && rest >= keys[at]!) rest -= keys[at++]!
    const member = members[at]!
    const key = keys[at]!
    for (let i = at; i > drawn; i--) {
      members[i] = members[i - 1]!
      keys[i] = keys[i - 1]!
    }
    members[drawn] = member
    keys[drawn] = key
    sum -= key
  }
}
