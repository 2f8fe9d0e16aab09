// Rrsets read back from a bundle: what went in comes out.
import { expect, test } from 'vitest'
import { findRrset, nodeFlags } from '#bundle/format/bundle.ts'
import type { Bundle } from '#bundle/format/bundle.ts'
import { NodeFlag } from '#bundle/format/cells.ts'
import { rrsetAt, rrsetsOfNode } from '#bundle/load/rrset-values.ts'
import { formatName } from '#dns/name.ts'
import { rdataTypes } from '#dns/rdata/rdata-types.ts'
import { modelOfWritten, recordsOf, rrsetsOf } from '#test/support/dns/written-zone.ts'
import { bundleOf, zone } from '#test/support/bundle-models.ts'
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

test('DS at an apex is in the rows, for the parent to answer', () => {
  const bundle = bundleOf({
    zones: [zone('org.'), zone('example.org.')],
    rrsets: [
      { name: 'example.org.', zone: 0, type: 43, ttlSeconds: 60, rdata: [Buffer.alloc(36)] },
    ],
  })
  const rrsets = rrsetsOfNode(bundle, nodeOf(bundle, 'example.org.'))
  expect(rrsets.map(({ type }) => type)).toContain(43)
  expect(formatName(rrsets[0]!.rdata[0]!)).toMatch(/\.$/)
})
