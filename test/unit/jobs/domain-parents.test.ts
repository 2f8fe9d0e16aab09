// Tests that DS records seen at parents reach the guardrails when they change, and people when they
// fit no key.
import { expect, test } from 'vitest'
import { err, ok } from '#lib/result.ts'
import type { DomainCheck, DomainResult } from '#state/ports/domains.ts'
import { Parents } from '#jobs/domain-parents.ts'

const zone = 'example.com.'
const own = '111 13 2 aa'
const other = '222 13 2 bb'
const none: DomainCheck = {
  ...{ role: 'parent', server: 'a.', address: '192.0.2.1', ns: [], ds: [] },
  ...{ code: '', error: '', atMs: 1 },
}
const resultOf = (...checks: Partial<DomainCheck>[]): DomainResult => ({
  ...{ domain: zone, nsOk: true, dsOk: false, dsExpected: true, error: '', verifiedAtMs: 1 },
  checks: checks.map((one) => ({ ...none, ...one })),
})
const answered = (...ds: string[]): DomainResult => resultOf({ ns: ['ns1.example.com.'], ds })

function scene(
  dsOf: (zone: string) => readonly string[] | undefined = () => [own],
  before: ReadonlyMap<string, { ds: readonly string[]; rolls: boolean }> = new Map(),
) {
  const signed = new Set([zone, 'other.test.'])
  const told: unknown[] = []
  const rolled: { zone: string; parent: { onAny: readonly string[] } | null }[] = []
  let found = null as DomainResult | null
  let isAway = false
  const parents = new Parents({
    store: {
      results: async () =>
        isAway
          ? err({ code: 'store-away', message: 'away' } as const)
          : ok(new Map(found === null ? [] : [['uid', found]])),
    },
    dsOf,
    zoneOf: (domain) => domain.replace('shop.', ''),
    rolled: () => rolled,
    ...{ before, signed: () => signed },
    onParents: (seen) => told.push([...seen]),
  })
  const look = async (next: DomainResult | null | 'away') => {
    isAway = next === 'away'
    found = next === 'away' ? found : next
    await parents.look([{ uid: 'uid', domain: `shop.${zone}`, tenant: 'acme' }])
    return [...parents.faults.values()]
  }
  return { look, told, rolled, signed }
}

test('DS records of parents are reported when they change, by the delegated zone', async () => {
  const { look, told } = scene()
  for (const next of [answered(own), answered(own), answered(own, other), answered()] as const) {
    expect(await look(next)).toEqual([])
  }
  const tellings = [[own], [own, other], []].map((ds) => [[zone, { ds, rolls: false }]])
  expect(told).toEqual(tellings)
})

test('a DS that is of no key here is said, with what to do', async () => {
  const { look } = scene()
  expect(await look(answered(other))).toEqual([
    'the parent of example.com. has the DS record "222 13 2 bb", which is of no key of the zone ' +
      'here; add what "gslbd dnssec ds example.com." prints before example.com. is delegated to ' +
      'this server, and take the other away after its TTL',
  ])
  expect(await look(answered(other, own))).toEqual([])
})

test('while nobody can say, what was seen last stays', async () => {
  const { look, told } = scene()
  await look(answered(other))
  expect(await look('away')).toHaveLength(1)
  expect(await look(resultOf({ code: 'no-answer' }))).toHaveLength(1)
  expect(await look(resultOf({ ns: ['ns1.example.com.'], isDsUnknown: true }))).toHaveLength(1)
  expect(await look(null)).toHaveLength(1)
  expect(told).toHaveLength(1)
})

test('a zone whose keys this node rolls needs no delegated domain', async () => {
  const { look, told, rolled } = scene()
  rolled.push({ zone, parent: null }, { zone: 'other.test.', parent: { onAny: [own] } })
  expect(await look(null)).toEqual([])
  rolled[0] = { zone, parent: { onAny: [other] } }
  expect(await look(null)).toHaveLength(1)
  expect(told.at(-1)).toEqual([
    [zone, { ds: [other], rolls: true }],
    ['other.test.', { ds: [own], rolls: true }],
  ])
})

test.each([
  ['is not signed', undefined],
  ['is signed by keys of other nodes', []],
])('a zone that %s has no fault', async (_, ds) => {
  const { look } = scene(() => ds)
  expect(await look(answered(other))).toEqual([])
})

test('after a start, what was seen before stays until the zone is signed no more', async () => {
  const known = { ds: [own], rolls: true }
  const { look, told, rolled, signed } = scene(() => undefined, new Map([[zone, known]]))
  rolled.push({ zone, parent: null })
  await look(null)
  expect(told).toEqual([])
  rolled.length = 0
  await look(null)
  expect(told).toEqual([[[zone, { ds: [own], rolls: false }]]])
  signed.delete(zone)
  await look(null)
  expect(told.at(-1)).toEqual([])
})
