import { describe, expect, test } from 'vitest'
import { addressOfMember, uidOf } from '#bundle/format/bundle.ts'
import type { BundleModel, MemberModel, PoolModel } from '#bundle/format/model.ts'
import { encodeBundle, EncoderMemory } from '#bundle/encode/encode.ts'
import { hostnameText, rowsOfMember, slotOfMember } from '#bundle/format/hostnames.ts'
import { bundleLimits } from '#bundle/format/limits.ts'
import { overlaysOf } from '#bundle/format/overlays.ts'
import { loadBundle } from '#bundle/load/load.ts'
import { plainCodeOf } from '#routing/choose/ways.ts'
import {
  bareModel,
  bundleOf,
  encode,
  member,
  pool,
  service,
  uid,
  zone,
} from '#test/support/bundle-models.ts'
import { withElement } from '#test/support/damaged-bundle.ts'

const named = (hostname: string, parts: Partial<MemberModel> = {}): MemberModel =>
  member('', { hostname, ...parts })
const modelOf = (pools: readonly PoolModel[], more: Partial<BundleModel> = {}): BundleModel => ({
  ...bareModel,
  zones: [zone('test.')],
  pools,
  services: pools.map((_, i) => service(i + 1, `s${i}.test.`, { pool: i })),
  ...more,
})

const mixed = [
  pool(1, ['192.0.2.1', named('a.example.net.'), '2001:db8::1', named('b.example.net.')]),
  pool(2, [named('a.example.net.'), named('c.example.net.')], { answer: 'cname' }),
  pool(3, ['192.0.2.3']),
  pool(4, [named('b.example.net.')]),
]

test('a host name has slots of each family, which share its uid and have own numbers', () => {
  const bundle = bundleOf(modelOf(mixed))
  const slots: number[] = []
  for (let row = 0; row < bundle.counts.members; row++) {
    const all = rowsOfMember(bundle, row)
    if (all.length === 1) continue
    expect(all).toHaveLength(bundleLimits.slotsPerHostname * 2)
    expect(all).toContain(row)
    expect(new Set(all.map((one) => uidOf(bundle.memberUid, one))).size).toBe(1)
    slots.push(slotOfMember(bundle, row))
  }
  expect(slots.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 48 }, (_, i) => i))
  expect([0, 1, 2].map((row) => hostnameText(bundle, row)).sort()).toEqual([
    'a.example.net.',
    'b.example.net.',
    'b.example.net.',
  ])
})

test('rollouts and windows find members behind host names', () => {
  const times = { startAtMs: 1, endAtMs: 2 }
  const windows = [0, 1, 2, 3].map((at) => {
    const named = { uid: uid(0x3000 + at), name: '', tenant: '' }
    return { ...named, pool: 0, member: at, members: null, ...times }
  })
  const bundle = bundleOf(modelOf(mixed, { windows }))
  const members = overlaysOf(bundle).windows.map(({ member: row }) => addressOfMember(bundle, row))
  expect(members).toEqual(['192.0.2.1', 'a.example.net.', '2001:db8::1', 'b.example.net.'])
})

test('a geo rule may name a host name, and stands for all of its slots', () => {
  const range = { start: 0x0a00_0000, end: 0x0aff_ffff, endpoints: ['a.example.net.'] }
  const geoRules = { v4: [range], v6: [] }
  const bundle = bundleOf(modelOf([pool(1, ['192.0.2.1', named('a.example.net.')], { geoRules })]))
  const [, count, ...rows] = bundle.networkList
  expect(count).toBe(16)
  expect(rows.every((row) => addressOfMember(bundle, row) === 'a.example.net.')).toBe(true)
})

describe('a change of one pool', () => {
  const plain = Array.from({ length: 40 }, (_, i) => pool(100 + i, [`192.0.2.${i}`, '2001:db8::9']))
  const changes: readonly [string, readonly PoolModel[]][] = [
    ['an address goes', [...mixed, ...plain.slice(1)]],
    ['an address comes', [...mixed, ...plain, pool(7, ['198.51.100.7', '2001:db8::7'])]],
    ['a host name goes', [...mixed.slice(1), ...plain]],
    ['a host name comes', [...mixed, ...plain, pool(7, [named('new.example.net.')])]],
  ]
  test.each(changes)('gives the same octets as from the start: %s', (_what, after) => {
    const memory = new EncoderMemory()
    encodeBundle(modelOf([...mixed, ...plain], { services: [] }), plainCodeOf, memory)
    const model = modelOf(after, { services: [] })
    const again = encodeBundle(model, plainCodeOf, memory)
    expect(again.digest).toBe(encode(model).digest)
    expect(loadBundle(again.bytes).ok).toBe(true)
  })
})

describe('a damaged bundle is refused', () => {
  const good = encode(modelOf(mixed)).bytes
  const bundle = bundleOf(modelOf(mixed))
  const alias = bundle.memberFlags.indexOf(5)
  const slot = bundle.memberFlags.indexOf(3)
  const address = bundle.memberFlags.indexOf(1)
  const cases: readonly [string, Parameters<typeof withElement>[1], number, number][] = [
    ['a host name without a name', 'hostnameRow', 2, 0xffff],
    ['a host name with the slots of another', 'hostnameRow', 3, bundle.hostnameRow[0]!],
    ['a host name outside its pool', 'hostnameRow', 1, 0],
    ['a slot with another number', 'memberAddress', slot * 4 + 3, 200],
    ['a slot that is none', 'memberFlags', slot, 1],
    ['a slot of no host name', 'memberFlags', address, 3],
    ['an alias of nothing', 'memberAddress', alias * 4 + 2, 255],
    ['an alias beside addresses', 'memberFlags', address, 5],
    ['an unknown flag', 'memberFlags', address, 9],
    ['a name that is none', 'hostnameNames', 1, 64],
  ]
  test.each(cases)('%s', (_what, column, at, value) => {
    expect(loadBundle(good).ok).toBe(true)
    const loaded = loadBundle(withElement(good, column, at, value))
    expect(loaded.ok).toBe(false)
    if (!loaded.ok) expect(loaded.error.code).toBe('malformed')
  })
})
