// Tests the effect that a write reports, on a node with databases of places.
import { setImmediate } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { plainRouting } from '#bundle/format/model.ts'
import type { Bundle } from '#bundle/format/bundle.ts'
import type { BundleModel, ServiceModel } from '#bundle/format/model.ts'
import { createCommitEffects } from '#judge/effects/commit-effects.ts'
import { systemClock } from '#lib/clock.ts'
import { exposedCollector } from '#lib/memory/exposed-collector.ts'
import { Random } from '#lib/random.ts'
import { shortSummary } from '#judge/print/short.ts'
import { makePlan } from '#judge/plan/plan.ts'
import { KnownPlaces, QuickEffects } from '#judge/plan/quick-effect.ts'
import { GeoLink } from '#inputs/geo/geo-link.ts'
import { packNetworks } from '#routing/tables/network-index.ts'
import { bareModel, bundleOf, member, pool, service, zone } from '#test/support/bundle-models.ts'
import { laneCount } from '#test/support/lane.ts'
import { geoBuffersOf } from '#test/support/routing-site.ts'

const nowMs = Date.UTC(2026, 0, 1)
const geo = geoBuffersOf({
  countries: [
    ['11.0.0.0/8', 'DE'],
    ['12.0.0.0/7', 'FR'],
    ['12.128.0.0/9', 'US-CA'],
    ['2001:db8::/33', 'DE'],
    ['2001:db8:8000::/36', 'US-CA'],
  ],
  operators: [
    ['11.64.0.0/10', 64_500, 'Operator One'],
    ['16.0.0.0/6', 64_501, 'Operator Two'],
    ['2001:db8:4000::/35', 64_500, 'Operator One'],
  ],
  places: [
    ['11.0.0.0/9', 52, 13],
    ['12.0.0.0/8', 48, 2],
    ['12.128.0.0/9', 37, -122],
    ['2001:db8::/34', 52, 13],
  ],
})
const linked = (buffers = geo): GeoLink =>
  new GeoLink({ onChange: (handler) => handler(buffers) }, () => undefined)
const link = linked()
const known = new KnownPlaces(geo, (bundle) => link.tablesFor(bundle))

const ways: readonly (readonly [string, Partial<ServiceModel>])[] = [
  ['plain', {}],
  ['nearest', { algorithm: 'geo-ip' }],
  ['country', { filterChain: ['geo-ip', 'failover'] }],
  ['country-turns', { filterChain: ['geo-ip'] }],
  ['operator', { algorithm: 'asn' }],
  ['operator-country', { filterChain: ['asn', 'geo-ip', 'failover'] }],
  ['map', { algorithm: 'map-file' }],
  ['map-country', { filterChain: ['map-file', 'geo-ip', 'failover'] }],
]
const addresses = ['192.0.2.1', '192.0.2.2', '192.0.2.3', '192.0.2.4', '2001:db8::1', '2001:db8::2']
const regions = ['DE', 'FR', 'US', 'US-CA', 'continent:EU', 'unknown']

function randomModel(random: Random): BundleModel {
  const pick = <T>(all: readonly T[]): T => all[random.next() % all.length]!
  const ranges = () => {
    const start = (8 + (random.next() % 10)) * 2 ** 24
    const end = start + 2 ** (16 + (random.next() % 9)) - 1
    return { v4: [{ start, end, endpoints: [pick(addresses)] }], v6: [] }
  }
  const members = () =>
    addresses
      .filter(() => random.next() % 4 > 0)
      .map((ip) => member(ip, { region: pick(regions), priority: random.next() % 3 }))
  return {
    ...bareModel,
    zones: [zone('example.org.')],
    pools: [pool(1, members()), pool(2, members(), { geoRules: ranges() })],
    services: ways
      .filter(() => random.next() % 6 > 0)
      .map(([name, parts], i) =>
        service(i + 1, `${name}.example.org.`, { pool: random.next() % 2, ...parts }),
      ),
    routing: {
      ...plainRouting,
      mapRules: random.next() % 3 === 0 ? ranges() : plainRouting.mapRules,
      asnRules: [
        { asn: 64_500, org: '', endpoint: pick(addresses) },
        { asn: null, org: 'two', endpoint: addresses[1]! },
      ],
      endpointLocations: addresses.map((endpoint, i) => ({ endpoint, lat: 60 - 20 * i, lon: 13 })),
    },
  }
}

test('a write says the figures that a plan with the same databases says', () => {
  const random = new Random(laneCount(11, 12))
  const effects = new QuickEffects({ nowMs: () => nowMs, places: () => known })
  let base = bundleOf(randomModel(random))
  const said = new Set<string>()
  for (let round = 0; round < laneCount(150, 15); round++) {
    const head = bundleOf(randomModel(random))
    const effect = effects.between(base, head)
    const [before, after] = [base, head].map((bundle) => {
      const tables = { ...link.tablesFor(bundle), networks: packNetworks(bundle) }
      return { source: '', bundle, tables }
    })
    const { summary } = makePlan({
      ...{ base: before!, head: after!, geo, scripts: null },
      moments: [{ atMs: nowMs, health: null }],
    })
    expect(effect.ok ? shortSummary(effect.of(null)) : effect.reason).toBe(shortSummary(summary))
    said.add(shortSummary(summary))
    base = head
  }
  expect(said.size).toBeGreaterThan(laneCount(50, 8))
})

/** The clients of the second member are those of Germany. */
const modelOf = (parts: Partial<ServiceModel>, second = '192.0.2.2'): BundleModel => ({
  ...bareModel,
  zones: [zone('example.org.')],
  pools: [pool(1, [member('192.0.2.1'), member(second, { region: 'DE' })])],
  services: [service(1, 'www.example.org.', { pool: 0, ...parts })],
})
const parts = (bundle: ReturnType<typeof bundleOf>) => ({
  bytes: bundle.bytes,
  digest: bundle.digest,
})
const byCountry = { filterChain: ['geo-ip', 'failover'] }
const change = (of: Partial<ServiceModel> = byCountry) =>
  [modelOf(of), modelOf(of, '192.0.2.9')].map((model) => parts(bundleOf(model)))

describe('on a node with databases', () => {
  test('clients are unknown until they are read; then each write has its effect', () => {
    let databases: object | null = null
    const clock = { ...systemClock, nowMs: () => nowMs }
    const port = { hasDatabases: true, databases: () => databases }
    const effects = createCommitEffects(port, clock)
    const [before, after] = change()
    expect(effects.between(before!, after!)).toEqual({ moved: 'places' })
    databases = geo
    // Germany has 32,768 of the 36,864 networks /48 that a database knows.
    expect(effects.between(before!, after!).text?.(null)).toBe('moved=88.9%; names=1; later=1')
    // Others are loaded: a quarter of IPv4 is German, and nobody of IPv6.
    databases = geoBuffersOf({ countries: [['64.0.0.0/2', 'DE']] })
    expect(effects.between(after!, before!).text?.(null)).toBe('moved=28.4%; names=1; later=1')
  })

  test('tables that others have replaced are let go', async () => {
    let databases = geoBuffersOf({ countries: [['64.0.0.0/2', 'DE']] })
    const ranges = new WeakRef(databases.country!.ranges)
    const effects = createCommitEffects({ hasDatabases: true, databases: () => databases })
    const [before, after] = change()
    expect(effects.between(before!, after!).text?.(null)).toMatch(/^moved=28/)
    databases = geo
    effects.renew()
    const collect = exposedCollector()
    // A dereferenced WeakRef keeps its target until the next turn, a frame of its caller longer.
    for (let turn = 0; turn < 10 && ranges.deref() !== undefined; turn++) {
      await setImmediate()
      collect()
    }
    expect(ranges.deref()).toBeUndefined()
  })

  test('measurements of browsers are unknown', () => {
    const effects = createCommitEffects({ hasDatabases: true, databases: () => geo })
    const [before, after] = change({ filterChain: ['geo-ip', 'rum'] })
    expect(effects.between(before!, after!)).toEqual({ moved: 'places' })
  })
})

describe('a sticky way behind one that goes by places', () => {
  const own = new KnownPlaces(geo, (bundle) => link.tablesFor(bundle))
  const planned = (base: Bundle, head: Bundle) => {
    const [before, after] = [base, head].map((bundle) => {
      const tables = { ...link.tablesFor(bundle), networks: packNetworks(bundle) }
      return { source: '', bundle, tables }
    })
    return makePlan({
      ...{ base: before!, head: after!, geo, scripts: null },
      moments: [{ atMs: nowMs, health: null }],
      limits: { networksMax: 8_192 },
    })
  }
  const spread = (of: Partial<ServiceModel>, gone: number): BundleModel => ({
    ...modelOf(of),
    pools: [
      pool(
        1,
        Array.from({ length: 12 }, (_, i) =>
          member(i % 2 === 0 ? `192.0.2.${i}` : `2001:db8::${i}`, {
            region: regions[(i >> 1) % 3]!,
            weight: 1 + i,
          }),
        ).filter((_, i) => i !== gone),
      ),
    ],
  })
  test.each([
    ['country', { filterChain: ['geo-ip', 'sticky'] }],
    ['operator', { filterChain: ['asn', 'sticky'] }],
    ['both', { filterChain: ['asn', 'geo-ip', 'sticky'] }],
    ['country, by weights', { filterChain: ['geo-ip', 'sticky-weighted'] }],
  ])('by %s it says what a plan says, within what both may err', (_, of) => {
    const effects = new QuickEffects({ nowMs: () => nowMs, places: () => own })
    for (let gone = 0; gone < laneCount(12, 2); gone++) {
      const [base, head] = [bundleOf(spread(of, -1)), bundleOf(spread(of, gone))]
      const plan = planned(base, head)
      const effect = effects.between(base, head)
      if (!effect.ok) expect.unreachable(effect.reason)
      const { movedMax, movedMaxError, ...others } = effect.of(null)
      const { movedMax: wanted, movedMaxError: error, ...same } = plan.summary
      expect(others).toEqual({ ...same, movedMaxName: 'www.example.org.' })
      expect(wanted).toBeGreaterThan(0)
      expect(movedMaxError).toBeLessThan(0.02)
      expect(Math.abs(movedMax - wanted)).toBeLessThanOrEqual(movedMaxError + error)
      // The same question gets the same choice again.
      const back = effects.between(head, base)
      const again = effects.between(base, head)
      expect([back.ok, again.ok && again.of(null).movedMax]).toEqual([true, movedMax])
    }
  })

  test('names that take more than a write may ask for are left to a plan', () => {
    const effects = new QuickEffects({ nowMs: () => nowMs, places: () => own }, { asksMax: 1_000 })
    const of = { filterChain: ['geo-ip', 'sticky'] }
    const [base, head] = [bundleOf(spread(of, -1)), bundleOf(spread(of, 4))]
    expect(effects.between(base, head)).toEqual({ ok: false, reason: 'networks' })
  })
})

test('tables of more rows than a write may look at are left to a plan', () => {
  const effects = new QuickEffects(
    { nowMs: () => nowMs, places: () => known },
    { placedRowsMax: 3 },
  )
  const [base, head] = [modelOf(byCountry), modelOf(byCountry, '192.0.2.9')].map(bundleOf)
  expect(effects.between(base!, head!)).toEqual({ ok: false, reason: 'networks' })
})
