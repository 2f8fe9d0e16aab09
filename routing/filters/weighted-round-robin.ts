// weighted-round-robin in a chain: a random candidate, each as likely as its share of the weights.
import type { Chain } from '#routing/chain/chain.ts'
import type { Filter } from '#routing/choose/step.ts'

export const weightedRoundRobinFilter: Filter = {
  name: 'weighted-round-robin',
  aliases: ['wrr', 'weighted_rr'],
  kind: 'selecting',
  bind: () => drawByWeight,
}

function drawByWeight(chain: Chain): void {
  const { members, keys, count, state } = chain
  for (let i = 0; i < count; i++) keys[i] = state.memberWeight[members[i]!]!
  drawByKeys(chain)
}

/**
 * Draws as many candidates as a reply holds, without putting back, each as likely as its share of
 * `keys`, which are positive. What is drawn comes first, in the order of drawing.
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
