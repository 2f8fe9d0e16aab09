// round-robin in a chain: each answer names the next of the candidates that are left.
import type { Chain } from '#routing/chain/chain.ts'
import type { Filter } from '#routing/choose/step.ts'

export const roundRobinFilter: Filter = {
  name: 'round-robin',
  aliases: [],
  kind: 'selecting',
  bind: () => takeTurns,
}

/** The cursor is the service's own, shared by all threads. */
export function takeTurns(chain: Chain): void {
  const { state, serviceIndex, family, members, scratch, count } = chain
  const turn = Atomics.add(state.serviceCursor, serviceIndex * 2 + family, 1) >>> 0
  const first = turn % count
  if (first === 0) return
  // Rotated, not swapped: with several addresses in a reply each comes first equally often.
  const after = count - first
  for (let i = 0; i < first; i++) scratch[i] = members[i]!
  for (let i = 0; i < after; i++) members[i] = members[first + i]!
  for (let i = 0; i < first; i++) members[after + i] = scratch[i]!
}
