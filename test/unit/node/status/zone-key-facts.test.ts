// Tests what is found wrong with keys of signed zones, of which an alert is told.
import { expect, test } from 'vitest'
import { zoneKeyFacts } from '#node/status/zone-key-facts.ts'
import type { ZoneKeyFactsParts } from '#node/status/zone-key-facts.ts'
import type { Waiting } from '#dns/dnssec/rollover.ts'
import { reportOf } from '#test/support/node-reports.ts'

const day = 86_400_000
const well: ZoneKeyFactsParts = {
  nodeName: 'near-1',
  missingKeys: () => [],
  keyTroubles: () => [],
  behindNodes: () => [],
  dsFaults: () => new Map(),
  rolled: () => [],
  nodes: () => [],
  nowMs: () => 10 * day,
}
const found = (parts: Partial<ZoneKeyFactsParts>) =>
  zoneKeyFacts({ ...well, ...parts }).map(({ kind, of, detail }) => `${kind} ${of}: ${detail}`)

test('this node tells the zones that it has no key of, and why keys stay as they are', () => {
  const missingKeys = () => ['DIR has no key of a.test.: bring it there']
  expect(found({ missingKeys, keyTroubles: () => ['the database is older'] })).toEqual([
    'missing near-1: Clients that validate get SERVFAIL: DIR has no key of a.test.: bring it ' +
      'there.',
    'unused near-1: Keys of zones stay as they are on this node: the database is older.',
  ])
})

test('a node that pulls is told of by its health, while it counts and is heard', () => {
  const reasons = ['zone-key-missing', 'zone-keys-unused', 'zone-keys-stale']
  const far = { report: reportOf('far-1', { role: 'dns', reasons }) }
  const kinds = (node: Partial<ReturnType<ZoneKeyFactsParts['nodes']>[number]>) =>
    zoneKeyFacts({
      ...well,
      nodes: () => [{ ...far, isCounted: true, isMissing: false, ...node }],
    }).map(({ kind, of }) => `${kind} ${of}`)
  expect(kinds({})).toEqual(['missing far-1', 'unused far-1', 'stale far-1'])
  expect(kinds({ isCounted: false })).toEqual([])
  expect(kinds({ isMissing: true })).toEqual([])
  expect(kinds({ report: reportOf('c', { role: 'control', reasons }) })).toEqual([])
  expect(kinds({ report: reportOf('far-1', { role: 'dns' }) })).toEqual([])
})

test('a node that is behind is waited for, or is not any more', () => {
  const behindNodes = () => [
    { name: 'far-1', behindMs: 660_000, isWaitedFor: true },
    { name: 'far-2', behindMs: 2 * day, isWaitedFor: false },
  ]
  expect(found({ behindNodes })).toEqual([
    'behind far-1: It has not taken newer keys for 11 minutes, and turns bogus once keys roll ' +
      'without it. Its health and its log say why.',
    'left-behind far-2: It has not taken newer keys for 2880 minutes, and turns bogus once keys ' +
      'roll without it. Its health and its log say why.',
  ])
})

test('DS records that fit no key are told of by their zone', () => {
  const dsFaults = () => new Map([['a.test.', 'the parent of a.test. has another DS']])
  expect(found({ dsFaults })).toEqual([
    'ds-mismatch a.test.: Clients that validate take answers for forgeries: the parent of ' +
      'a.test. has another DS.',
  ])
})

const parent = (sinceMs: number): Waiting => ({ for: 'parent', tag: 2, ds: '2 13 2 AB', sinceMs })
const old: Waiting = { for: 'key', tag: 1, by: 2 }

test.each<[what: string, waiting: readonly Waiting[], isTold: boolean]>([
  ['a roll that has waited for the parent for a day', [parent(9 * day), old], true],
  ['a roll that has waited for less', [parent(9 * day + 1), old], false],
  ['a first key, whose DS nobody has to give', [parent(0)], false],
  ['DS records of the old algorithm', [{ for: 'old-ds', tag: 2, ds: ['1 13 2 CD'] }, old], true],
  ['caches', [{ for: 'time', tag: 2, step: 'sign', untilMs: 11 * day }], false],
])('of %s', (_what, waiting, isTold) => {
  const rolled = () => [{ zone: 'a.test.', waiting, nextMs: null, parent: null }]
  const facts = found({ rolled })
  expect(facts).toHaveLength(isTold ? 1 : 0)
  if (isTold) expect(facts[0]).toMatch(/^waits a\.test\.: .*(give it the DS|take "1 13 2 CD" away)/)
})
