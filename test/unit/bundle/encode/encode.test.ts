import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parseHealthCheck } from '#bundle/format/health-check.ts'
import { memberOctets, textOf, uidOf } from '#bundle/format/bundle.ts'
import type { Bundle } from '#bundle/format/bundle.ts'
import { MemberFlag, NodeFlag } from '#bundle/format/cells.ts'
import { rrsetsOfNode } from '#bundle/load/rrset-values.ts'
import { bundleLimits } from '#bundle/format/limits.ts'
import { plainRouting } from '#bundle/format/model.ts'
import { sectionNames } from '#bundle/format/format.ts'
import { isAbsentZone } from '#bundle/load/absent-zones.ts'
import { loadBundle } from '#bundle/load/load.ts'
import { parentName } from '#bundle/encode/name-table.ts'
import { version } from '#lib/version.ts'
import {
  bundleOf,
  encode,
  healthCheck,
  member,
  pool,
  service,
  smallModel,
  soa,
  uid,
  zone,
} from '../../../support/bundle-models.ts'
import {
  namesOf,
  nameOfZone,
  nodeFlags,
  poolOfService,
  serviceOfNode,
  zoneOfNode,
} from '../../../support/bundle-read.ts'

const nodeOf = (bundle: Bundle, name: string): number => namesOf(bundle).indexOf(name)
const zoneNameOf = (bundle: Bundle, name: string): string =>
  nameOfZone(bundle, zoneOfNode(bundle, nodeOf(bundle, name)))

describe('names', () => {
  test('are kept with nearly 255 octets in a bundle that has few', () => {
    const name = `${`${'x'.repeat(63)}.`.repeat(3)}${'y'.repeat(56)}.ab.`
    expect(namesOf(bundleOf({ zones: [zone(name)] }))).toContain(name)
  })

  test('exist without records between a service and the apex', () => {
    const bundle = bundleOf({
      ...smallModel,
      services: [service(1, 'a.b.c.example.org.')],
    })
    const names = ['example.org.', 'a.b.c.example.org.', 'b.c.example.org.', 'c.example.org.']
    expect(namesOf(bundle).sort()).toEqual([...names, 'ns1.example.org.'].sort())
    expect(serviceOfNode(bundle, nodeOf(bundle, 'b.c.example.org.'))).toBe(-1)
    expect(serviceOfNode(bundle, nodeOf(bundle, 'a.b.c.example.org.'))).toBe(0)
  })

  test('above a wildcard say so', () => {
    const bundle = bundleOf(smallModel)
    const flags = nodeFlags(bundle, nodeOf(bundle, 'apps.example.org.'))
    expect(flags & NodeFlag.HasWildcard).not.toBe(0)
    expect(nodeFlags(bundle, nodeOf(bundle, 'example.org.'))).toBe(NodeFlag.Apex)
  })

  test('belong to the closest zone, and an apex knows its parent', () => {
    const bundle = bundleOf({
      zones: [zone('org.'), zone('a.b.example.org.'), zone('example.org.')],
      pools: [],
      services: [
        service(1, 'x.a.b.example.org.', { zone: 1, pool: -1 }),
        service(2, 'x.b.example.org.', { zone: 2, pool: -1 }),
        service(3, 'x.org.', { zone: 0, pool: -1 }),
      ],
    })
    const zones = Object.fromEntries(
      namesOf(bundle).map((name) => [name, zoneNameOf(bundle, name)]),
    )
    expect(zones).toEqual({
      'org.': 'org.',
      'x.org.': 'org.',
      'example.org.': 'example.org.',
      'b.example.org.': 'example.org.',
      'x.b.example.org.': 'example.org.',
      'a.b.example.org.': 'a.b.example.org.',
      'x.a.b.example.org.': 'a.b.example.org.',
    })
    const parentOf = (name: string): string | undefined => {
      const parent = bundle.zoneParent[zoneOfNode(bundle, nodeOf(bundle, name))]!
      return parent < 0 ? undefined : nameOfZone(bundle, parent)
    }
    expect(parentOf('a.b.example.org.')).toBe('example.org.')
    expect(parentOf('example.org.')).toBe('org.')
    expect(parentOf('org.')).toBeUndefined()
  })

  test('belong to the zone below a cut when their name server is there', () => {
    const nameservers = [{ name: 'ns1.sub.example.org.', addresses: ['192.0.2.1'] }]
    const inner = zone('sub.example.org.')
    const outer = zone('example.org.', { nameservers })
    const bundle = bundleOf({ pools: [], services: [], zones: [outer, inner] })
    expect(zoneNameOf(bundle, 'ns1.sub.example.org.')).toBe('sub.example.org.')
  })

  test('have the addresses of the closest zone when nested zones share a name server', () => {
    const server = (address: string) => ({ name: 'ns.sub.example.org.', addresses: [address] })
    const zones = [
      zone('example.org.', { nameservers: [server('192.0.2.1')] }),
      zone('sub.example.org.', { nameservers: [server('192.0.2.2')] }),
    ]
    for (const order of [zones, zones.toReversed()]) {
      const bundle = bundleOf({ pools: [], services: [], zones: order })
      const rrsets = rrsetsOfNode(bundle, nodeOf(bundle, 'ns.sub.example.org.'))
      expect(rrsets).toEqual([
        { type: 1, ttlSeconds: soa.ttlSeconds, rdata: [Uint8Array.of(192, 0, 2, 2)] },
      ])
    }
  })

  test('are left out when the name server is in no zone of ours', () => {
    const nameservers = [{ name: 'ns.example.net.', addresses: ['192.0.2.1'] }]
    const zones = [zone('example.org.', { nameservers })]
    const bundle = bundleOf({ pools: [], services: [], zones })
    expect(namesOf(bundle)).toEqual(['example.org.'])
  })

  test('have a parent, escaped dots apart', () => {
    const rows = [
      ['a.b.', 'b.'],
      ['b.', '.'],
      ['a\\.b.c.', 'c.'],
      ['a\\\\.b.', 'b.'],
      ['a\\.b.', '.'],
    ]
    for (const [name, parent] of rows) expect(parentName(name!)).toBe(parent)
  })
})

describe('pools and members', () => {
  const bundle = bundleOf({
    ...smallModel,
    pools: [
      pool(2, ['2001:db8::2', '192.0.2.9', '2001:db8::1', '192.0.2.1'], { healthCheck }),
      pool(1, [
        member('192.0.2.7', {
          enabled: false,
          weight: 0,
          priority: 3,
          port: 8443,
          region: 'münchen',
        }),
      ]),
    ],
    services: [service(1, 'www.example.org.', { pool: 1 })],
  })

  test('stand in the order of uids, members in that of the file, IPv4 first', () => {
    expect([uidOf(bundle.poolUid, 0), uidOf(bundle.poolUid, 1)]).toEqual([uid(0x1001), uid(0x1002)])
    expect(poolOfService(bundle, 0)).toBe(0)
    expect([...bundle.poolMemberStart]).toEqual([0, 1])
    expect([...bundle.poolCount4]).toEqual([1, 2])
    expect([...bundle.poolCount6]).toEqual([0, 2])
    const last = (row: number): number => memberOctets(bundle, row).at(-1)!
    expect([last(1), last(2), last(3), last(4)]).toEqual([9, 1, 2, 1])
  })

  test('keep what the model says of them', () => {
    expect(bundle.memberFlags[0]! & MemberFlag.Enabled).toBe(0)
    expect(bundle.memberFlags[1]! & MemberFlag.Enabled).toBe(MemberFlag.Enabled)
    expect([bundle.memberWeight[0], bundle.memberPriority[0]]).toEqual([0, 3])
    expect([bundle.memberPort[0], bundle.memberPool[0]]).toEqual([8443, 0])
    expect(textOf(bundle, bundle.memberRegion[0]!)).toBe('münchen')
    expect(bundle.poolHealthCheck[0]).toBe(0)
    expect(parseHealthCheck(textOf(bundle, bundle.poolHealthCheck[1]!))).toEqual(healthCheck)
    expect(textOf(bundle, 0)).toBe('')
  })
})

test('zones with the same SOA and name servers share their octets', () => {
  const zones = Array.from({ length: 50 }, (_, i) => zone(`z${i}.test.`, { soa }))
  const one = bundleOf({ pools: [], services: [], zones: zones.slice(0, 1) })
  const many = bundleOf({ pools: [], services: [], zones })
  expect(many.rrsetData).toEqual(one.rrsetData)
  expect(many.rrsetRow).toEqual(one.rrsetRow)
})

test('the digest names the content, and the manifest says what it was made from', () => {
  const { manifest, digest } = encode(smallModel)
  expect(manifest).toMatchObject({ format: 5, compiler: version, commit: 'c0ffee' })
  expect(manifest.counts).toEqual({
    nodes: 6,
    zones: 1,
    rrsets: 4,
    services: 3,
    pools: 2,
    members: 4,
    responseRules: 0,
    redirects: 0,
  })
  expect(digest).toBe(bundleOf(smallModel).digest)
  expect(digest).not.toBe(encode({ ...smallModel, commit: '' }).digest)
})

test('a bundle of nothing can be loaded', () => {
  const bundle = bundleOf({ zones: [], pools: [], services: [] })
  expect(bundle.counts.nodes).toBe(0)
})

test('the version is the one that is published', () => {
  const path = join(import.meta.dirname, '../../../../package.json')
  const packageJson = JSON.parse(readFileSync(path, 'utf8')) as { version: string }
  expect(version).toBe(packageJson.version)
})

describe('limits', () => {
  test('a pool may have as many members as the table says, and no more', () => {
    const members = (count: number) =>
      Array.from({ length: count }, (_, i) => `10.0.${i >> 8}.${i & 255}`)
    const most = bundleLimits.membersPerPoolMax
    const modelWith = (count: number) => ({
      ...smallModel,
      pools: [pool(1, members(count))],
      services: [],
    })
    expect(bundleOf(modelWith(most)).counts.members).toBe(most)
    expect(() => bundleOf(modelWith(most + 1))).toThrow('pool 0 has too many members')
  })

  test('a weight above the limit is refused', () => {
    const heavy = pool(1, [member('192.0.2.1', { weight: bundleLimits.weightMax + 1 })])
    expect(() => bundleOf({ ...smallModel, pools: [heavy], services: [] })).toThrow(
      'weighs too much',
    )
  })

  test('a zone may have as many name servers as the table says, and no more', () => {
    const withServers = (count: number) => ({
      ...smallModel,
      services: [],
      zones: [
        zone('example.org.', {
          nameservers: Array.from({ length: count }, (_, i) => ({
            name: `n${i}.test.`,
            addresses: [],
          })),
        }),
      ],
    })
    const most = bundleLimits.nameserversPerZoneMax
    expect(bundleOf(withServers(most)).counts.zones).toBe(1)
    expect(() => bundleOf(withServers(most + 1))).toThrow('cannot have 33 records')
  })

  test('the sum of the weights of the largest pool fits its column', () => {
    expect(bundleLimits.membersPerPoolMax * bundleLimits.weightMax).toBeLessThan(2 ** 32)
  })
})

test('a zone that is not here marks its bundle, so that nodes of older versions refuse it', () => {
  const routing = { ...plainRouting, absentZones: ['example.org.'] }
  const { bytes, manifest } = encode({ ...smallModel, routing })
  const [mark, ...more] = manifest.sections.slice(sectionNames.length)
  // Such a node reads no other name of a section that must be understood.
  expect(mark).toMatchObject({ name: 'absentZones', bytes: 0, mustUnderstand: true })
  expect(more).toEqual([])
  const loaded = loadBundle(bytes)
  expect(loaded.ok && isAbsentZone(loaded.value, 'example.org.')).toBe(true)
  expect(encode(smallModel).manifest.sections).toHaveLength(sectionNames.length)
})
