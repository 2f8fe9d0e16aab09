// Rrsets read back from a bundle: what went in comes out, and the types that denials must list.
import { describe, expect, test } from 'vitest'
import { findRrset, nodeFlags } from '#bundle/format/bundle.ts'
import type { Bundle } from '#bundle/format/bundle.ts'
import { NodeFlag } from '#bundle/format/cells.ts'
import { rrsetAt, rrsetsOfNode, typesOfNode } from '#bundle/load/rrset-values.ts'
import { formatName } from '#dns/name.ts'
import { rdataTypes } from '#dns/rdata/rdata-types.ts'
import { modelOfWritten, recordsOf, rrsetsOf } from '#test/support/dns/written-zone.ts'
import { bundleOf, pool, service, zone } from '#test/support/bundle-models.ts'
import { namesOf, zoneOfNode } from '#test/support/bundle-read.ts'
import { staticZone } from '#test/support/dns/static-zone.ts'
import { zoneOfAllTypes } from '#test/support/dns/zone-of-all-types.ts'

const all = { name: 'example.com.', text: zoneOfAllTypes(2) }
const nodeOf = (bundle: Bundle, name: string): number => namesOf(bundle).indexOf(name)

test('every record of every type comes back as it was written', () => {
  const bundle = bundleOf(modelOfWritten(all))
  const rrsets = rrsetsOf(recordsOf(all))
  const nodes = new Map(namesOf(bundle).map((name, node) => [name, node]))
  expect(new Set(rrsets.map(({ type }) => type)).size).toBeGreaterThanOrEqual(rdataTypes.length)
  const soa = 6
  for (const { name, type, ttlSeconds, rdata } of rrsets.filter((one) => one.type !== soa)) {
    const node = nodes.get(name)!
    const found = rrsetAt(bundle, findRrset(bundle, node, type), zoneOfNode(bundle, node))
    const plain = rdata.map((one) => Uint8Array.from(one))
    expect([name, found]).toEqual([name, { type, ttlSeconds, rdata: plain }])
  }
})

test('flags say what stands at a cut, below it, below a DNAME and at an alias', () => {
  const bundle = bundleOf(modelOfWritten(staticZone))
  const flagsOf = (name: string): number =>
    nodeFlags(bundle, nodeOf(bundle, `${name}.example.org.`))
  expect(flagsOf('sub')).toBe(NodeFlag.Cut)
  expect(flagsOf('ns.sub')).toBe(NodeFlag.Below)
  expect(flagsOf('old')).toBe(NodeFlag.Dname)
  expect(flagsOf('alias')).toBe(NodeFlag.HasCname)
  expect(flagsOf('star')).toBe(NodeFlag.HasWildcard)
  expect(flagsOf('www')).toBe(0)
})

describe('the types that a client may get', () => {
  const bundle = bundleOf({
    zones: [zone('org.'), zone('example.org.')],
    pools: [pool(1, ['192.0.2.1']), pool(2, ['2001:db8::1'])],
    services: [
      service(1, 'www.example.org.', { zone: 1, pool: 0 }),
      service(2, 'both.example.org.', { zone: 1, pool: 0, onAllDown: { pool: 1 } }),
    ],
    rrsets: [
      { name: 'www.example.org.', zone: 1, type: 16, ttlSeconds: 60, rdata: [Buffer.of(1, 65)] },
      { name: 'example.org.', zone: 0, type: 43, ttlSeconds: 60, rdata: [Buffer.alloc(36)] },
      { name: 'cut.example.org.', zone: 1, type: 2, ttlSeconds: 60, rdata: [Buffer.of(1, 97, 0)] },
      { name: 'cut.example.org.', zone: 1, type: 43, ttlSeconds: 60, rdata: [Buffer.alloc(36)] },
      { name: 'a.cut.example.org.', zone: 1, type: 1, ttlSeconds: 60, rdata: [Buffer.alloc(4)] },
    ],
  })
  test.each([
    ['of a service and data beside it', 'www.example.org.', [1, 16]],
    ['of a service and the pool it falls back on', 'both.example.org.', [1, 28]],
    ['at an apex, without the DS of the parent', 'example.org.', [2, 6]],
    ['at a cut', 'cut.example.org.', [2, 43]],
    ['below a cut', 'a.cut.example.org.', []],
  ])('%s', (_title, name, types) => {
    expect(typesOfNode(bundle, nodeOf(bundle, name))).toEqual(types)
  })

  test('DS at an apex is in the rows, for the parent to answer', () => {
    const rrsets = rrsetsOfNode(bundle, nodeOf(bundle, 'example.org.'))
    expect(rrsets.map(({ type }) => type)).toContain(43)
    expect(formatName(rrsets[0]!.rdata[0]!)).toMatch(/\.$/)
  })
})
