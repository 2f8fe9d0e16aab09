// Where queries come from: from copies that a responder leaves, without an address kept.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { noGeoBuffers } from '#routing/geo/geo-tables.ts'
import type { GeoBuffers } from '#routing/geo/geo-tables.ts'
import { timedEvery } from '#answer/counters/batch-timer.ts'
import { loadGeo } from '#inputs/geo/load.ts'
import { clientRegionLimits, ClientRegions } from '#answer/samples/client-regions.ts'
import { QuerySampler } from '#answer/samples/query-sampler.ts'
import { QuerySamples } from '#answer/samples/query-samples.ts'
import { listSource } from '#test/support/memory-source.ts'
import { query } from '#test/support/dns/message.ts'
import { FakeTime } from '#test/support/fake-time.ts'
import { writeMmdb } from '#test/support/mmdb-writer.ts'
import { makeTempDir, removeTempDir } from '#test/support/temp-dir.ts'

const geo = geoOf([
  ['192.0.2.0/24', 'DE'],
  ['198.51.100.0/24', 'JP'],
  ['2001:db8:1::/48', 'FR'],
])

function geoOf(rows: readonly (readonly [network: string, country: string])[]): GeoBuffers {
  const dir = makeTempDir('client-regions')
  const path = join(dir, 'country.mmdb')
  const networks = rows.map(([network, iso]) => [network, { country: { iso_code: iso } }] as const)
  writeFileSync(path, writeMmdb({ ipVersion: 6, type: 'Test-Country', networks }))
  const loaded = loadGeo({ setting: 'geoip.dbPath', path })
  removeTempDir(dir)
  if (!loaded.ok) throw new Error(loaded.error)
  return { ...noGeoBuffers, ...loaded.buffers }
}

/** RFC 7871: family, prefix, scope, address. */
const subnet = (...octets: readonly number[]): Buffer =>
  query('www.example.org. A', { opt: { options: [{ code: 8, data: Buffer.from(octets) }] } })
const plain = query('www.example.org. A')
const german = [192, 0, 2, 7] as const

class Scene {
  readonly time = new FakeTime(Date.UTC(2027, 2, 1))
  readonly samples = new QuerySamples(1)
  answered = 0
  geo = geo
  readonly regions = new ClientRegions({
    samples: this.samples,
    geo: () => this.geo,
    queries: () => this.answered,
    clock: this.time.clock,
    after: this.time.after,
  })
  readonly #sampler = new QuerySampler(this.samples.rings[0], timedEvery - 1)

  /** As a responder that answers a batch that is looked at. */
  give(client: readonly number[], ...packets: readonly Buffer[]): void {
    const source = listSource([packets])
    for (let slot = 0; slot < packets.length; slot++) source.clients.set(client, slot * 4)
    this.#sampler.take(source, source.receive())
    this.answered += packets.length
  }

  found(): readonly (readonly [string, number])[] {
    return this.regions.counts().countries.map(({ country, queries }) => [country, queries])
  }
}

test('the network that a resolver names counts, else the address of who asks', () => {
  const scene = new Scene()
  scene.regions.tick()
  const rows: readonly (readonly [readonly number[], Buffer])[] = [
    [german, plain],
    [german, subnet(0, 1, 24, 0, 198, 51, 100)],
    [german, subnet(0, 2, 48, 0, 0x20, 0x01, 0x0d, 0xb8, 0, 1)],
    // "Do not say where I am", another family, and more octets than an address has.
    [german, subnet(0, 1, 0, 0)],
    [german, subnet(0, 3, 24, 0, 198, 51, 100)],
    [german, subnet(0, 1, 32, 0, 198, 51, 100, 1, 1)],
    [[203, 0, 113, 9], plain],
    // Octets that are no message.
    [german, Buffer.from([1, 2, 3])],
  ]
  for (const [client, packet] of rows) scene.give(client, packet)
  scene.regions.tick()
  expect(scene.found()).toEqual([
    ['DE', 5],
    ['JP', 1],
    ['FR', 1],
    ['', 1],
  ])
  expect(scene.regions.counts()).toMatchObject({ hasDatabase: true, sampled: 8 })
})

test('a sample stands for all queries since the last: busy seconds count for more', () => {
  const scene = new Scene()
  scene.regions.tick()
  scene.give(german, plain, plain)
  scene.answered += 998
  scene.regions.tick()
  scene.give([198, 51, 100, 1], plain)
  scene.regions.tick()
  expect(scene.found()).toEqual([
    ['DE', 1_000],
    ['JP', 1],
  ])
  expect(scene.regions.counts().sampled).toBe(3)
})

test('an hour is kept, in parts; what is older goes', () => {
  const scene = new Scene()
  scene.regions.start()
  scene.time.pass(clientRegionLimits.tickMs)
  scene.give(german, plain)
  scene.time.pass(clientRegionLimits.tickMs)
  expect(scene.found()).toEqual([['DE', 1]])
  scene.time.pass(40 * 60_000)
  scene.give([198, 51, 100, 1], plain)
  scene.time.pass(clientRegionLimits.tickMs)
  expect(scene.found()).toHaveLength(2)
  expect(scene.regions.counts().seconds).toBe(40 * 60 + 2)
  scene.time.pass(20 * 60_000)
  expect(scene.found()).toEqual([['JP', 1]])
  scene.time.pass(60 * 60_000)
  expect(scene.regions.counts()).toMatchObject({ countries: [], sampled: 0, seconds: 0 })
  scene.regions.stop()
})

test('without a database nothing is copied; one that comes later begins the count', () => {
  const scene = new Scene()
  scene.geo = noGeoBuffers
  scene.regions.tick()
  scene.give(german, plain)
  expect(scene.samples.drain(8)).toEqual([])
  expect(scene.regions.counts()).toEqual({
    ...{ hasDatabase: false, seconds: 0, sampled: 0, countries: [] },
  })
  scene.geo = geo
  scene.regions.tick()
  scene.give(german, plain)
  scene.regions.tick()
  expect(scene.found()).toEqual([['DE', 1]])
  scene.regions.stop()
  scene.give(german, plain)
  expect(scene.samples.drain(8)).toEqual([])
})
