// Contract of ways to choose, as filter and as algorithm. A new one gets its row in `steps`.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { plainRouting } from '#bundle/format/model.ts'
import type { BundleModel, MemberModel, RoutingModel } from '#bundle/format/model.ts'
import { valueNames } from '#bundle/format/routing-text.ts'
import { createEnvironment, noRoutingTables } from '#routing/choose/environment.ts'
import { isReady, rebuildPool } from '#routing/state/candidates.ts'
import {
  algorithmNamed,
  algorithms,
  filterNamed,
  filterText,
  filters,
  spellingsOf,
  ways,
} from '#routing/choose/ways.ts'
import { LikenessKind } from '#routing/chain/scope.ts'
import { MemberOut } from '#routing/state/state.ts'
import { Family } from '#routing/state/query.ts'
import { allocatedBytesPerCall } from '#test/support/allocated-bytes.ts'
import { bareModel, bundleOf, member, pool, service, zone } from '#test/support/bundle-models.ts'
import { laneCount } from '#test/support/lane.ts'
import { asnRule, routingSite } from '#test/support/routing-site.ts'
import type { RoutingSite, World } from '#test/support/routing-site.ts'

const world: World = {
  countries: [
    ['10.0.0.0/9', 'DE'],
    ['10.128.0.0/10', 'FR'],
    ['10.192.0.0/16', 'JP'],
    ['2001:db8::/33', 'DE'],
  ],
  operators: [
    ['10.0.0.0/10', 64_500, 'Example Net'],
    ['10.64.0.0/16', 64_501, 'Other Carrier'],
  ],
  places: [
    ['10.0.0.0/9', 50.1, 8.7],
    ['10.128.0.0/10', 48.9, 2.4],
    ['10.192.0.0/16', 35.7, 139.7],
  ],
}

const weights = [1, 2, 3, 4, 90]
/** Seven addresses, two of them IPv6, each with another region, priority and weight. */
const addresses = [
  ...weights.map((_, i) => `192.0.2.${i + 1}`),
  '2001:db8:ffff::1',
  '2001:db8:ffff::2',
]
const regions = ['DE', 'continent:EU', 'JP', 'unknown', 'FR', 'DE', 'unknown']

const routing: RoutingModel = {
  ...plainRouting,
  mapRules: {
    v4: [{ start: 0x0a00_0000, end: 0x0a00_ffff, endpoints: ['198.51.100.1', '192.0.2.4'] }],
    v6: [],
  },
  asnRules: [
    asnRule('198.51.100.1', { asn: 64_500 }),
    asnRule('192.0.2.2', { asn: 64_500 }),
    asnRule('192.0.2.3', { org: 'carrier' }),
  ],
  endpointLocations: [
    { endpoint: '192.0.2.1', lat: 50, lon: 8 },
    { endpoint: '192.0.2.3', lat: 35, lon: 139 },
  ],
  signals: { weight: 0.5, static: { DE: 30, JP: 10, FR: 20 } },
}

const script = 'script:result = candidates.map((one) => one.ip)'
/** Each step by the name that a service gives it. */
const steps: readonly (readonly [name: string, chain: readonly string[], algorithm: string])[] = [
  // The plain ones have tests of their own: plain-ways.test.ts.
  ...algorithms.flatMap(({ name, plain }) =>
    plain === undefined ? [[`algorithm ${name}`, [], name] as const] : [],
  ),
  ...filters.map(({ name }) => {
    const text = name === 'script' ? script : name
    return [`filter ${name}`, [text], ''] as const
  }),
]

/** Members of weight 0 get no answer from it. */
function goesByWeight([, chain, algorithm]: (typeof steps)[number]): boolean {
  const way = chain.length === 0 ? algorithmNamed(algorithm) : filterNamed(chain[0]!)?.way
  return way?.weightAs === 'share'
}

function modelOf(
  chain: readonly string[],
  algorithm: string,
  members: readonly MemberModel[],
): BundleModel {
  return {
    ...bareModel,
    zones: [zone('test.')],
    pools: [pool(1, members)],
    services: [service(1, 'a.test.', { filterChain: chain, algorithm, pool: 0 })],
    routing,
  }
}

const allMembers = addresses.map((address, i) =>
  member(address, { weight: weights[i] ?? 1, priority: (i * 3) % 5, region: regions[i]! }),
)

function siteOf([, chain, algorithm]: (typeof steps)[number], members = allMembers): RoutingSite {
  const site = routingSite(modelOf(chain, algorithm, members), world)
  const { state } = site
  for (let i = 0; i < members.length; i++) state.memberRttMs[i] = 10 * (i + 1)
  return site
}

const clients = ['10.0.0.1', '10.64.0.1', '10.130.0.1', '10.192.1.1', '203.0.113.9', '2001:db8::7']

describe('the table', () => {
  test('has no name or alias twice for an algorithm, nor for a filter', () => {
    for (const rows of [filters, algorithms]) {
      const names = rows.flatMap(spellingsOf)
      expect(new Set(names).size).toBe(names.length)
    }
  })

  test('has no way that nothing can name', () => {
    expect(ways.filter((way) => !algorithms.includes(way) && !filters.includes(way))).toEqual([])
  })

  test('has the ways that divide answers by weight, and the one that is told of it', () => {
    const readers = ways.filter(({ weightAs }) => weightAs !== undefined)
    expect(readers.map(({ name, weightAs }) => [name, weightAs])).toEqual([
      ['weighted-round-robin', 'share'],
      ['sticky-weighted', 'share'],
      ['script', 'input'],
    ])
  })

  test.each(ways)('says which settings $name reads: a plan asks again where they differ', (way) => {
    const bundle = bundleOf(modelOf([], 'failover', allMembers))
    const environment = createEnvironment(bundle, noRoutingTables, null)
    const read = new Set<unknown>()
    const settings = new Proxy(environment.settings, {
      get(target, key, receiver): unknown {
        read.add(key)
        return Reflect.get(target, key, receiver)
      },
    })
    way.bind({ ...environment, settings }, 'result = candidates')
    expect(valueNames.filter((name) => read.has(name) && name !== way.reads)).toEqual([])
  })

  test('has no setting that no way reads', () => {
    expect(valueNames.filter((name) => ways.every(({ reads }) => reads !== name))).toEqual([])
  })

  test('finds each by all its spellings', () => {
    for (const way of algorithms) {
      for (const spelling of spellingsOf(way)) expect(algorithmNamed(spelling)).toBe(way)
    }
    for (const way of filters) {
      const colon = way.argument === undefined ? '' : ':'
      for (const spelling of spellingsOf(way)) expect(filterNamed(spelling + colon)?.way).toBe(way)
    }
    expect(algorithmNamed('sticky')).toBeUndefined()
  })

  test('has each comparison of clients once: what one keeps must not count for another', () => {
    const kinds = ways.flatMap(({ likeness }) => likeness)
    expect(new Set(kinds).size).toBe(kinds.length)
    // Geo rules of a pool go before every way.
    const all = Object.values(LikenessKind)
    expect([...kinds, LikenessKind.GeoRules].sort()).toEqual(all.sort())
  })

  test.each([
    ['geo-ip', 'geo-ip', ''],
    ['rum-latency', 'rum', ''],
    ['wrr', 'weighted-round-robin', ''],
    ['script:result = []', 'script', 'result = []'],
    ['script:a ? b : c', 'script', 'a ? b : c'],
    ['script:', 'script', ''],
    ['script', undefined, undefined],
    ['sticky:x', undefined, undefined],
    ['nonsense', undefined, undefined],
  ])('%s is found as %s with the argument "%s"', (text, name, argument) => {
    const use = filterNamed(text)
    expect([use?.way.name, use?.argument]).toEqual([name, argument])
  })
})

describe.each(steps)('%s', (...step) => {
  const isWeighted = goesByWeight(step)

  test('chooses only members that may answer, and leaves one whenever there is one', () => {
    const flags = fc.record({
      healthy: fc.boolean(),
      enabled: fc.boolean(),
      weight: fc.constantFrom(0, 1, 7),
      out: fc.constantFrom(0, 0, MemberOut.Warming, MemberOut.Maintenance),
      rttMs: fc.constantFrom(0, 3, 80),
    })
    fc.assert(
      fc.property(
        fc.array(flags, { minLength: addresses.length, maxLength: addresses.length }),
        fc.constantFrom(...clients),
        fc.constantFrom(Family.V4, Family.V6),
        (all, client, family) => {
          const members = allMembers.map((one, i) => ({ ...one, ...all[i]! }))
          const { bundle, state, chooseNext } = siteOf(
            step,
            members.map(({ enabled, weight, ...rest }) => ({ ...rest, enabled, weight })),
          )
          for (const [i, { healthy, out, rttMs }] of all.entries()) {
            state.memberHealthy[i] = healthy ? 1 : 0
            state.memberOut[i] = out
            state.memberRttMs[i] = rttMs
          }
          rebuildPool(bundle, state, 0)
          const isOfFamily = (i: number): boolean => i < bundle.poolCount4[0]! === (family === 0)
          const candidates = all
            .map((_, i) => i)
            .filter((i) => isReady(bundle, state, i) && isOfFamily(i))
            .filter((i) => !isWeighted || state.memberWeight[i]! > 0)
          const { addresses: chosen } = chooseNext(client, 0, family)
          expect(chosen.length).toBe(candidates.length === 0 ? 0 : 1)
          for (const one of chosen) expect(candidates).toContain(one)
        },
      ),
      { numRuns: laneCount(200, 20) },
    )
  })

  test('chooses the same again from the same state and seed', () => {
    const once = siteOf(step)
    const again = siteOf(step)
    for (let i = 0; i < 300; i++) {
      const client = clients[i % clients.length]!
      expect(again.chooseNext(client)).toEqual(once.chooseNext(client))
    }
  })

  test('puts as many different members into a reply as the service wants', () => {
    const [, chain, algorithm] = step
    const model = modelOf(chain, algorithm, allMembers)
    const services = model.services.map((one) => ({ ...one, answerCount: 3 }))
    const site = routingSite({ ...model, services }, world)
    for (const client of clients) {
      const { addresses: chosen } = site.chooseNext(client)
      expect(new Set(chosen).size).toBe(chosen.length)
      expect(chosen.length).toBeGreaterThan(0)
      expect(chosen.length).toBeLessThanOrEqual(3)
    }
  })

  test('says a scope of no more bits than the address has', () => {
    const { chooseNext } = siteOf(step)
    for (const client of clients) {
      const { scope } = chooseNext(client)
      expect(scope).toBeGreaterThanOrEqual(0)
      expect(scope).toBeLessThanOrEqual(client.includes(':') ? 128 : 32)
    }
  })

  // Words above 2^31: as numbers that are handed on they would be objects.
  test.each(['203.0.113.9', '2001:db8:ffff:ffff:ffff:ffff:ffff:ffff'])(
    'allocates nothing for %s, whose scope is wanted',
    (client) => {
      const site = siteOf(step)
      site.chooseNext(client)
      // The chain is run as the answer path runs it.
      const repeat = (times: number): void => {
        for (let i = 0; i < times; i++) site.runAgain()
      }
      expect(allocatedBytesPerCall(repeat, 10_000)).toBeLessThan(0.05)
    },
  )
})

test.each(filters.filter(({ page }) => page.scope === '0').map(filterText))(
  '%s has the scope 0, as its row says',
  (text) => {
    const { chooseNext } = siteOf([text, [text], ''])
    for (const client of clients) expect(chooseNext(client).scope).toBe(0)
  },
)

describe('sticky', () => {
  const pinsOf = (site: RoutingSite): number[] =>
    Array.from({ length: 20_000 }, (_, i) => {
      const client = `172.${16 + (i >> 12)}.${(i >> 4) & 255}.${(i & 15) * 16}`
      return site.chooseNext(client).addresses[0]!
    })

  test.each(['sticky', 'sticky-weighted'])('%s moves only the clients of a lost member', (name) => {
    const members = Array.from({ length: 10 }, (_, i) => member(`192.0.2.${i + 1}`))
    const site = routingSite(modelOf([name], '', members), world)
    const before = pinsOf(site)
    site.state.memberHealthy[3] = 0
    rebuildPool(site.bundle, site.state, 0)
    const after = pinsOf(site)
    for (const [i, pin] of before.entries()) {
      if (pin !== 3) expect(after[i]).toBe(pin)
      else expect(after[i]).not.toBe(3)
    }
    site.state.memberHealthy[3] = 1
    rebuildPool(site.bundle, site.state, 0)
    expect(pinsOf(site)).toEqual(before)
  })

  test.each([
    ['192.0.2.1', '192.0.2.254', 24],
    ['2001:db8::1', '2001:db8:0:0:ffff::1', 64],
    ['::ffff:192.0.2.1', '192.0.2.9', 24],
  ])('%s and %s are one network, and the scope says so', (one, other, scope) => {
    const site = routingSite(modelOf(['sticky'], '', allMembers), world)
    expect(site.choose(one)).toEqual(site.choose(other))
    expect(site.choose(one).scope).toBe(scope)
  })
})
