// Contract of shares: each member's share of a million answers, by filter and by algorithm; over
// the draws of one client where the step is random, over random clients where it is not.
import { describe, expect, test } from 'vitest'
import { plainRouting } from '#bundle/format/model.ts'
import type { RoutingModel } from '#bundle/format/model.ts'
import { Random } from '#lib/random.ts'
import { algorithms, filterNamed, filters } from '#routing/choose/ways.ts'
import { wordsOfUid } from '#routing/rum/targets.ts'
import { RumStore } from '#inputs/rum/rum-store.ts'
import { bareModel, member, pool, service, zone } from '#test/support/bundle-models.ts'
import { laneCount } from '#test/support/lane.ts'
import { asnRule, routingSite } from '#test/support/routing-site.ts'
import type { RoutingSite, World } from '#test/support/routing-site.ts'

/** Parts of the clients in 10.0.0.0/8: a half, a quarter, a 256th; the rest are unknown. */
const half = '10.0.0.0/9'
const quarter = '10.128.0.0/10'
const few = '10.192.0.0/16'
const known = 1 / 2 + 1 / 4 + 1 / 256
const rest = 1 - known

const world: World = {
  countries: [
    [half, 'DE'],
    [quarter, 'FR'],
    [few, 'JP'],
  ],
  operators: [
    [half, 64_500, 'Example Net'],
    [quarter, 64_501, 'Other Carrier'],
  ],
  places: [
    [half, 50.1, 8.7],
    [few, 35.7, 139.7],
  ],
}

const weights = [1, 2, 3, 4, 90]
const priorities = [0, 3, 1, 4, 2]
const regions = ['DE', 'US', 'JP', 'unknown', 'FR']
const members = weights.map((weight, i) =>
  member(`192.0.2.${i + 1}`, { weight, priority: priorities[i]!, region: regions[i]! }),
)

const routing: RoutingModel = {
  ...plainRouting,
  mapRules: {
    v4: [
      { start: 0x0a00_0000, end: 0x0a7f_ffff, endpoints: ['198.51.100.1', '192.0.2.4'] },
      { start: 0x0a80_0000, end: 0x0abf_ffff, endpoints: ['192.0.2.3'] },
    ],
    v6: [],
  },
  asnRules: [
    asnRule('198.51.100.1', { asn: 64_500 }),
    asnRule('192.0.2.2', { asn: 64_500 }),
    asnRule('192.0.2.3', { org: 'carrier' }),
  ],
  endpointLocations: [
    { endpoint: '192.0.2.2', lat: 50, lon: 8 },
    { endpoint: '192.0.2.3', lat: 35, lon: 139 },
  ],
  signals: { weight: 0.5, static: { DE: 30, US: 40, JP: 10, FR: 20 } },
}

const draws = laneCount(1_000_000, 200_000)
const even = [0.2, 0.2, 0.2, 0.2, 0.2]
const byWeight = [0.01, 0.02, 0.03, 0.04, 0.9]
const inverse = [1 / 10, 1 / 20, 1 / 30, 1 / 40, 1 / 50]
const sum = inverse.reduce((a, b) => a + b)
const byRtt = inverse.map((one) => one / sum)
const only = (index: number): number[] => weights.map((_, i) => (i === index ? 1 : 0))
/** Shares of groups of clients, each with its own shares of members. */
const mixed = (...groups: readonly (readonly [share: number, shares: readonly number[]])[]) =>
  weights.map((_, i) => groups.reduce((all, [share, shares]) => all + share * shares[i]!, 0))

type Clients = 'one of 10.0.0.0/8' | 'anybody' | '203.0.113.9'

/** A filter by its name in a chain, an algorithm after the word. */
const rows: readonly (readonly [step: string, clients: Clients, shares: readonly number[]])[] = [
  ['round-robin', '203.0.113.9', even],
  ['weighted-round-robin', '203.0.113.9', byWeight],
  // Priority 0 is the last resort.
  ['failover', '203.0.113.9', only(2)],
  ['latency', '203.0.113.9', byRtt],
  // The lowest signal first.
  ['signal-weight', '203.0.113.9', only(2)],
  // Nothing runs it here, so it changes nothing; test/e2e/scripts.test.ts has what it does.
  ['script:result = []', '203.0.113.9', only(0)],
  ['sticky', 'anybody', even],
  ['sticky-weighted', 'anybody', byWeight],
  // A client in no member's country gets the member without a region.
  [
    'geo-ip',
    'one of 10.0.0.0/8',
    mixed([1 / 2, only(0)], [1 / 4, only(4)], [1 / 256, only(2)], [rest, only(3)]),
  ],
  // What no rule names stays in order.
  ['asn', 'one of 10.0.0.0/8', mixed([1 / 2, only(1)], [1 / 4, only(2)], [1 / 4, only(0)])],
  ['map-file', 'one of 10.0.0.0/8', mixed([1 / 2, only(3)], [1 / 4, only(2)], [1 / 4, only(0)])],
  // One in 256 is of a network that has measured; the rest goes by this node's round trips.
  ['rum', 'one of 10.0.0.0/8', mixed([1 / 256, only(3)], [1 / 256, only(1)], [127 / 128, byRtt])],
  ['rum', '203.0.113.9', byRtt],
  // The nearest place; whose place is not known has its turn.
  [
    'algorithm geo-ip',
    'one of 10.0.0.0/8',
    mixed([1 / 2, only(1)], [1 / 256, only(2)], [1 / 2 - 1 / 256, even]),
  ],
  ['algorithm geo-ip', '203.0.113.9', even],
  ['algorithm asn', 'one of 10.0.0.0/8', mixed([1 / 2, only(1)], [1 / 4, only(2)], [1 / 4, even])],
  ['algorithm asn', '203.0.113.9', even],
  [
    'algorithm map-file',
    'one of 10.0.0.0/8',
    mixed([1 / 2, only(3)], [1 / 4, only(2)], [1 / 4, only(0)]),
  ],
  ['algorithm map-file', '203.0.113.9', only(0)],
  // The bonus outweighs every round trip; without one they decide.
  [
    'algorithm latency',
    'one of 10.0.0.0/8',
    mixed([1 / 2, only(0)], [1 / 4, only(4)], [1 / 256, only(2)], [rest, byRtt]),
  ],
  ['algorithm latency', '203.0.113.9', byRtt],
]

/** Turns and what one client always gets are exact; the rest is chance. */
const isExact = (clients: Clients, shares: readonly number[]): boolean =>
  clients === '203.0.113.9' && shares !== byRtt && shares !== byWeight

function siteOf(step: string): RoutingSite {
  const algorithm = step.startsWith('algorithm ') ? step.slice('algorithm '.length) : ''
  const filterChain = algorithm === '' ? [step] : []
  const rum = new RumStore({ nowMs: () => 0, monotonicMs: () => 0 })
  const site = routingSite(
    {
      ...bareModel,
      zones: [zone('test.')],
      pools: [pool(1, members)],
      services: [service(1, 'a.test.', { filterChain, algorithm, pool: 0 })],
      routing,
    },
    { ...world, rum: rum.buffer },
  )
  for (let i = 0; i < members.length; i++) site.state.memberRttMs[i] = 10 * (i + 1)
  // In each /16 one network of 256 has found the fourth member fastest, and one the second.
  for (let i = 0; i < 256; i++) {
    for (const [index] of members.entries()) {
      const uid = wordsOfUid(site.bundle, index)
      rum.record(Uint8Array.of(10, i, 7, 1), uid, index === 3 ? 5 : 50)
      rum.record(Uint8Array.of(10, i, 8, 1), uid, index === 1 ? 5 : 50)
    }
  }
  return site
}

function picksOf(site: RoutingSite, clients: Clients): number[] {
  const picks = Array<number>(members.length).fill(0)
  const random = new Random(5)
  const octets = new Uint8Array(4)
  const view = new DataView(octets.buffer)
  site.choose('203.0.113.9')
  site.state.serviceCursor.fill(0)
  for (let i = 0; i < draws; i++) {
    if (clients !== '203.0.113.9') {
      const any = random.next()
      view.setUint32(0, clients === 'anybody' ? any : 0x0a00_0000 | (any >>> 8))
      site.chain.client.set(octets, 0, 4)
    }
    site.runAgain()
    picks[site.chain.members[0]!]! += 1
  }
  return picks
}

describe('shares of very many answers', () => {
  test('are said of every filter and of every algorithm', () => {
    const covered = rows.map(([step]) => filterNamed(step)?.way.name ?? step)
    const all = [
      ...filters.map(({ name }) => name),
      ...algorithms.flatMap(({ name, plain }) => (plain ? [] : [`algorithm ${name}`])),
    ]
    expect([...new Set(covered)].toSorted()).toEqual(all.toSorted())
  })

  test.each(rows)('%s, %s', (step, clients, shares) => {
    const picks = picksOf(siteOf(step), clients)
    for (const [i, share] of shares.entries()) {
      // Five standard deviations: one run in a million would fail, and the seed is fixed.
      const slack = isExact(clients, shares) ? 0 : 5 * Math.sqrt(draws * share * (1 - share))
      expect(Math.abs(picks[i]! - draws * share), `member ${i}`).toBeLessThanOrEqual(slack)
    }
  })
})
