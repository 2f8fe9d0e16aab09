// round-robin: each answer gives the next candidate. Each service has a cursor, shared by all
// threads.
import type { Chain } from '#routing/chain/chain.ts'
import type { PlainWay, Way } from '#routing/choose/way.ts'
import * as states from '#routing/state/state.ts'
import { firstCandidate } from '#routing/state/state.ts'

// Local constants are faster than imports: see answer/answer.ts.
const { PoolCell } = states

/** Reads one entry of the list, where a chain copies and rotates all of it. */
const plain: PlainWay = {
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

export const roundRobin: Way = {
  name: 'round-robin',
  aliases: [],
  usedAs: ['algorithm', 'filter'],
  kind: 'selecting',
  leaves: 'all',
  picksAny: true,
  needs: [],
  likeness: [],
  page: {
    does: "takes turns; the turn is the service's own, shared by all threads",
    settings: '',
    scope: '0',
  },
  plain,
  bind: () => takeTurns,
}

/** In a chain: among the candidates that are left. */
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
