// Policies that go by one table: what is kept of a choice is what the steps choose.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { BundleModel, ServiceModel } from '#bundle/format/model.ts'
import { createEnvironment } from '#routing/choose/environment.ts'
import { createPolicies } from '#routing/choose/policy.ts'
import { rebuildPool } from '#routing/state/candidates.ts'
import { Family } from '#routing/state/query.ts'
import { bareModel, bundleOf, member, pool, service, zone } from '#test/support/bundle-models.ts'
import { laneCount } from '#test/support/lane.ts'
import { geoBuffersOf, routingSite } from '#test/support/routing-site.ts'
import type { RoutingSite, World } from '#test/support/routing-site.ts'

const codes = ['US-CA', 'US-OR', 'US', 'MX', 'CA', 'DE', 'FR', 'JP', 'FR', 'DE', 'BR', 'US-CA']
const world: World = {
  countries: [
    ...codes.map((code, i) => [`10.${i * 4}.0.0/15`, code] as const),
    ...codes.map((code, i) => [`2001:db8:${(i * 4).toString(16)}::/47`, code] as const),
  ],
}
const clients = [
  ...Array.from({ length: 48 }, (_, i) => `10.${i}.${i * 5}.1`),
  ...Array.from({ length: 48 }, (_, i) => `2001:db8:${i.toString(16)}:${i * 5}::1`),
  '203.0.113.9',
  '2001:db9::1',
]
const regions = ['US-CA', 'US', 'continent:NA', 'DE', 'FR', 'unknown', 'JP', 'US-CA']

/** Eight IPv4 and two IPv6 members a pool. */
function poolOf(uid: number) {
  const four = regions.map((region, i) =>
    member(`192.0.${uid}.${i + 1}`, { region, priority: (i * uid) % 4 }),
  )
  const six = ['DE', 'US'].map((region, i) =>
    member(`2001:db8:ffff:${uid}::${i + 1}`, { region, priority: 2 - i }),
  )
  return pool(uid, [...four, ...six])
}

const chains = [['geo-ip'], ['geo-ip', 'failover']]

function modelOf(parts: Partial<ServiceModel> = {}): BundleModel {
  const pools = [poolOf(1), poolOf(2)]
  return {
    ...bareModel,
    zones: [zone('test.')],
    pools,
    services: chains.flatMap((filterChain, i) =>
      pools.map((_, k) =>
        service(i * 2 + k + 1, `s${i * 2 + k}.test.`, { filterChain, pool: k, ...parts }),
      ),
    ),
  }
}

/** Returns the choice by the table and the choice by the steps, for the same query. */
function both(site: RoutingSite, client: string, one: number, family: Family) {
  const { addresses, scope } = site.chooseNext(client, one, family)
  const { chosen, scopeBits } = site.traceAgain()
  return { fast: { chosen: addresses, scope }, slow: { chosen: [...chosen], scope: scopeBits } }
}

const query = fc.record({
  client: fc.constantFrom(...clients),
  one: fc.nat(3),
  family: fc.constantFrom(Family.V4, Family.V4, Family.V4, Family.V6),
})
const change = fc.record({
  row: fc.nat(19),
  healthy: fc.constantFrom(0, 1, 1),
  score: fc.constantFrom(1, 0.5, 0.25),
})

describe('a policy that goes by one table', () => {
  test('chooses what its steps choose, with their scope, while members come and go', () => {
    const turns = fc.array(fc.tuple(fc.array(change, { maxLength: 6 }), fc.array(query)))
    fc.assert(
      fc.property(turns, (all) => {
        const site = routingSite(modelOf(), world)
        const { bundle, state } = site
        for (const [changes, queries] of all) {
          for (const { row, healthy, score } of changes) {
            state.memberHealthy[row] = healthy
            state.memberScore[row] = score
          }
          for (const row of [0, 1]) rebuildPool(bundle, state, row)
          for (const { client, one, family } of queries) {
            const { fast, slow } = both(site, client, one, family)
            expect(fast).toEqual(slow)
          }
        }
      }),
      { numRuns: laneCount(300, 60) },
    )
  })

  test('answers all clients of the world as its steps do, when each has been asked before', () => {
    const site = routingSite(modelOf(), world)
    for (const one of [0, 1, 2, 3]) {
      for (const client of [...clients, ...clients]) {
        const { fast, slow } = both(site, client, one, Family.V4)
        expect(fast).toEqual(slow)
      }
    }
  })

  test.each([
    ['empty', 'empty'],
    ['all', 'all'],
    ['a fallback pool', { pool: 1 }],
  ] as const)('has nobody left, with %s, and its own members again', (_name, onAllDown) => {
    const site = routingSite(modelOf({ onAllDown }), world)
    const { bundle, state } = site
    for (const healthy of [1, 0, 1]) {
      for (let row = 0; row < regions.length; row++) state.memberHealthy[row] = healthy
      rebuildPool(bundle, state, 0)
      for (const client of clients) {
        const { fast, slow } = both(site, client, 2, Family.V4)
        expect(fast).toEqual(slow)
      }
    }
  })

  test.each([1, 2, 3, 4, 5, 6, 7, 8])(
    'names no scope shorter than its answer has when members go before look %i at the candidates',
    (look) => {
      for (const client of clients.slice(0, 48)) {
        const site = routingSite(modelOf(), world)
        const { bundle, state, chain } = site
        const before = both(site, client, 2, Family.V4).slow
        // What is answered before and after cannot be told apart.
        if (before.chosen[0] === regions.length - 1) continue
        rebuildPool(bundle, state, 0)
        const load = chain.load.bind(chain)
        let looks = 0
        // As another thread does between two looks: one member is left.
        chain.load = (pool, isWeighted) => {
          if (++looks === look) {
            state.memberHealthy.fill(0, 0, regions.length - 1)
            rebuildPool(bundle, state, 0)
          }
          load(pool, isWeighted)
        }
        const { addresses, scope } = site.chooseNext(client, 2)
        if (addresses[0] === before.chosen[0]) expect(scope).toBeGreaterThanOrEqual(before.scope)
        else expect([addresses, scope]).toEqual([[regions.length - 1], 0])
      }
    },
  )

  test('leaves clients of a geo rule to the rule', () => {
    const rule = { start: 0x0a00_0000, end: 0x0a00_00ff, endpoints: ['192.0.1.7'] }
    const [first, ...others] = modelOf().pools
    const pools = [{ ...first!, geoRules: { v4: [rule], v6: [] } }, ...others]
    const site = routingSite({ ...modelOf(), pools }, world)
    for (const client of ['10.0.0.1', '10.0.1.1', '10.0.0.200']) {
      const { fast, slow } = both(site, client, 2, Family.V4)
      expect(fast).toEqual(slow)
    }
    expect(site.chooseNext('10.0.0.1', 2)).not.toEqual(site.chooseNext('10.0.1.1', 2))
  })
})

test.each([
  [['geo-ip'], 1, true],
  [['geo-ip', 'failover'], 1, true],
  // The order of the others counts, too.
  [['geo-ip', 'failover'], 2, false],
  // Takes turns, throws dice, or looks at the client once more.
  [['geo-ip', 'round-robin'], 1, false],
  [['geo-ip', 'weighted-round-robin'], 1, false],
  [['geo-ip', 'latency'], 1, false],
  [['geo-ip', 'geo-ip'], 1, false],
  [['geo-ip', 'sticky'], 1, false],
  [['sticky', 'geo-ip'], 1, false],
  [['failover'], 2, false],
])('the chain %s with %i addresses an answer keeps outcomes: %s', (chain, count, is) => {
  const bundle = bundleOf({
    ...modelOf(),
    services: [service(1, 'a.test.', { filterChain: chain, pool: 0, answerCount: count })],
  })
  const tables = { geo: geoBuffersOf(world), asn: null }
  const [policy] = createPolicies(createEnvironment(bundle, tables, null))
  expect(policy!.byTable !== null).toBe(is)
})
