// Applies a script's answer, which is not trusted, to the candidates.
import type { Chain } from '#routing/chain/chain.ts'

/**
 * Leaves the candidates at the first `named` positions of `order`, in that order. Positions that
 * are none, or that come twice, are ignored; without any left the chain stays as it is.
 *
 * @returns how many candidates were named
 */
export function keepInOrder(chain: Chain, order: Uint32Array, named: number): number {
  const { members, scratch, scratchKeys, count } = chain
  for (let i = 0; i < count; i++) scratchKeys[i] = 0
  const most = Math.min(named, order.length)
  let kept = 0
  for (let i = 0; i < most && kept < count; i++) {
    const position = order[i]!
    if (position >= count || scratchKeys[position] !== 0) continue
    scratchKeys[position] = 1
    scratch[kept++] = members[position]!
  }
  if (kept === 0) return 0
  for (let i = 0; i < kept; i++) members[i] = scratch[i]!
  chain.count = kept
  return kept
}
