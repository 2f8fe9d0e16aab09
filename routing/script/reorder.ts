// Applies a script's untrusted answer to the candidates.
import type { Chain } from '#routing/chain/chain.ts'

/**
 * Leaves the candidates at the first `named` positions of `order`, in that order. Invalid and
 * repeated positions are ignored; without a valid one the chain stays as it is.
 *
 * @returns the number of named candidates
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
