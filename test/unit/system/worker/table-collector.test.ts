// Which publications make a thread collect garbage: those that leave memory behind, and no other.
import { expect, test } from 'vitest'
import type { ClientRanges } from '#bundle/format/model.ts'
import type { Bundle } from '#bundle/format/bundle.ts'
import { noGeoBuffers } from '#routing/geo/geo-tables.ts'
import type { GeoBuffers } from '#routing/geo/geo-tables.ts'
import { packNetworks } from '#routing/tables/network-index.ts'
import { GeoLink } from '#inputs/geo/geo-link.ts'
import { TableNumbers } from '#system/worker/table-collector.ts'
import { bundleOf, pool, service, zone } from '../../../support/bundle-models.ts'

const endpoints = ['192.0.2.1', '192.0.2.2']

/** Networks in turn of one member and of the other. */
function rulesOf(networks: number): ClientRanges {
  const v4 = Array.from({ length: networks }, (_, i) => ({
    start: i * 0x1_0000,
    end: i * 0x1_0000 + 0xffff,
    endpoints: [endpoints[i % 2]!],
  }))
  return { v4, v6: [] }
}

/** @param ttlSeconds sets apart bundles of the same rules */
function bundle(networks: number, ttlSeconds: number): Bundle {
  return bundleOf({
    zones: [zone('test.')],
    pools: [pool(1, endpoints, { geoRules: rulesOf(networks) })],
    services: [service(1, 'a.test.', { ttlSeconds })],
  })
}

test.each([
  ['without rules', [0, 0, 0]],
  ['with few rules, which are searched', [20, 20, 20]],
  ['with rules that have a table', [200, 200, 200]],
  ['whose rules change', [200, 201, 0, 200, 20]],
])('bundles %s are published without a collection', (_, networks) => {
  const link = new GeoLink(null, () => undefined)
  const numbers = new TableNumbers()
  const published = networks.map((count, i) => {
    const next = bundle(count, i)
    return numbers.next({ ...link.tablesFor(next), networks: packNetworks(next) })
  })
  expect(published).toEqual(networks.map(() => 1))
})

test('tables of a database that is read again are collected, once', () => {
  let reload = (geo: GeoBuffers): void => void geo
  const link = new GeoLink({ onChange: (handler) => void (reload = handler) }, () => undefined)
  const numbers = new TableNumbers()
  const serving = bundle(200, 1)
  expect(numbers.next(link.tablesFor(serving))).toBe(1)
  reload({ ...noGeoBuffers })
  expect(numbers.next(link.tablesFor(serving))).toBe(2)
  expect(numbers.next(link.tablesFor(bundle(200, 2)))).toBe(2)
})
