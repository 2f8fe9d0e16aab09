import { describe, expect, test } from 'vitest'
import type { ExternalSignalMode } from '#bundle/format/model.ts'
import { blend } from '#health/view/blend.ts'
import { decide } from '#health/view/policy.ts'
import type { HealthPolicy } from '#health/view/policy.ts'

type Knowledge = 'known' | 'unknown' | 'stale'

/** `+` says healthy, `-` unhealthy; of the peers that are fresh, a sign each. */
const rows: readonly [
  Knowledge,
  own: string,
  peers: string,
  expected: Record<HealthPolicy, string>,
][] = [
  ['known', '+', '', all('+')],
  ['known', '-', '', all('-')],
  ['known', '+', '--', { ...all('+'), 'global-quorum': '-' }],
  ['known', '-', '++', { ...all('-'), 'global-any-healthy': '+', 'global-quorum': '+' }],
  ['known', '-', '+-', { ...all('-'), 'global-any-healthy': '+' }],
  // 51 % of two are both of them.
  ['known', '+', '-', { ...all('+'), 'global-quorum': '-' }],
  ['known', '-', '--', all('-')],
  // Before its first probe a node takes a member for healthy, unless others know better.
  ['unknown', '+', '', all('+')],
  ['unknown', '+', '--', { ...all('-'), 'local-only': '+' }],
  ['unknown', '+', '+-', { ...all('+'), 'global-quorum': '-' }],
  ['unknown', '+', '+--', { ...all('+'), 'global-quorum': '-' }],
  // The node's own old verdict counts where it is preferred, and where no one has a newer one.
  ['stale', '-', '', all('-')],
  ['stale', '+', '', all('+')],
  ['stale', '-', '++', { ...all('+'), 'local-only': '-', 'prefer-local': '-' }],
  ['stale', '+', '--', { ...all('-'), 'local-only': '+', 'prefer-local': '+' }],
  [
    'stale',
    '-',
    '+--',
    { ...all('+'), 'local-only': '-', 'prefer-local': '-', 'global-quorum': '-' },
  ],
]

function all(sign: string): Record<HealthPolicy, string> {
  return {
    'local-only': sign,
    'prefer-local': sign,
    'local-or-global-fallback': sign,
    'global-any-healthy': sign,
    'global-quorum': sign,
  }
}

const vote = (sign: string) => ({ healthy: sign === '+', score: sign === '+' ? 1 : 0 })

describe.each(rows)('own word %s and "%s", peers "%s"', (knowledge, own, peers, expected) => {
  test.each(Object.entries(expected) as [HealthPolicy, string][])('%s: %s', (policy, sign) => {
    const decided = decide(policy, { ...vote(own), knowledge }, [...peers].map(vote), 51)
    expect(decided.healthy ? '+' : '-').toBe(sign)
  })
})

describe('a quorum', () => {
  const quorums: readonly [percent: number, votes: string, sign: string][] = [
    [50, '+-', '+'],
    [51, '+-', '-'],
    [51, '++-', '+'],
    [67, '++-', '-'],
    [66, '++-', '+'],
    [100, '++++-', '-'],
    [100, '++', '+'],
    [1, '+-----------', '+'],
  ]
  test.each(quorums)('at %i %% over %s: %s', (percent, [own, ...peers], sign) => {
    const mine = { ...vote(own!), knowledge: 'known' as const }
    expect(decide('global-quorum', mine, peers.map(vote), percent).healthy).toBe(sign === '+')
  })
})

test('the score is that of those who decide: its own, the best, or the mean', () => {
  const own = { healthy: true, score: 0.5, knowledge: 'known' as const }
  const peers = [
    { healthy: true, score: 0.8 },
    { healthy: false, score: 0.2 },
  ]
  expect(decide('local-only', own, peers, 51).score).toBe(0.5)
  expect(decide('global-any-healthy', own, peers, 51).score).toBe(0.8)
  expect(decide('global-quorum', own, peers, 51).score).toBe(0.5)
})

describe('blending probes and signals', () => {
  const blends: readonly [
    ExternalSignalMode,
    probe: boolean,
    signal: boolean | undefined,
    boolean,
  ][] = [
    ['and', true, undefined, true],
    ['and', false, undefined, false],
    ['and', true, true, true],
    ['and', true, false, false],
    ['and', false, true, false],
    ['or', true, undefined, true],
    ['or', false, undefined, false],
    ['or', false, true, true],
    ['or', true, false, true],
    ['or', false, false, false],
    ['override', true, undefined, true],
    ['override', false, undefined, false],
    ['override', false, true, true],
    ['override', true, false, false],
  ]
  test.each(blends)('%s: probe %s, signal %s is %s', (mode, probe, signal, healthy) => {
    expect(blend(mode, probe, signal)).toBe(healthy)
  })
})
