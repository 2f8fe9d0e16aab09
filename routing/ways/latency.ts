// latency in a chain: draws a candidate, more likely the shorter its round trip from this node.
import type { Chain } from '#routing/chain/chain.ts'
import type { Way } from '#routing/choose/way.ts'
import { drawByKeys } from './weighted-round-robin.ts'

export const latency: Way = {
  name: 'latency',
  aliases: [],
  usedAs: ['filter'],
  kind: 'selecting',
  leaves: 'all',
  picksAny: false,
  needs: ['round-trips'],
  reads: 'latency',
  likeness: [],
  page: {
    does: 'draws by 1 / RTT from this node',
    settings: '',
    scope: '0',
  },
  bind: () => drawByRtt,
}

/** Members without enough probes take no part; if none has enough, the first one is picked. */
export function drawByRtt(chain: Chain): void {
  if (!keepMeasured(chain)) return
  const { members, keys, count, state } = chain
  for (let i = 0; i < count; i++) keys[i] = 1 / state.memberRttMs[members[i]!]!
  drawByKeys(chain)
}

/**
 * Drops the candidates without a round-trip time, unless none has one.
 *
 * @returns false when none has
 */
export function keepMeasured(chain: Chain): boolean {
  const { members, count, state } = chain
  let kept = 0
  for (let i = 0; i < count; i++) {
    const member = members[i]!
    if (state.memberRttMs[member]! > 0) members[kept++] = member
  }
  if (kept > 0) chain.count = kept
  return kept > 0
}
