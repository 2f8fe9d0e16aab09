// The client subnet's scope (RFC 7871): exact, for random worlds, rules and clients.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { plainRouting } from '#bundle/format/model.ts'
import type { BundleModel, ClientRanges } from '#bundle/format/model.ts'
import { formatAddress } from '#dns/address.ts'
import { rebuildPool } from '#routing/state/candidates.ts'
import { parseCidr } from '#routing/tables/cidr.ts'
import { prefixesToRanges } from '#test/support/prefix-ranges.ts'
import { bareModel, member, pool, service, zone } from '#test/support/bundle-models.ts'
import { laneCount } from '#test/support/lane.ts'
import { asnRule, routingSite } from '#test/support/routing-site.ts'
import type { RoutingSite, World } from '#test/support/routing-site.ts'

/** Two small universes, so that networks meet often: 10.0.0.0/8 and 2001:db8::/32, in 9 bits. */
const bits = 9
interface Network {
  readonly isV6: boolean
  /** Its first `length` of 9 bits count. */
  readonly place: number
  readonly length: number
}
const network: fc.Arbitrary<Network> = fc.record({
  isV6: fc.boolean(),
  place: fc.nat(2 ** bits - 1),
  length: fc.integer({ min: 0, max: bits }),
})

function cidrOf({ isV6, place, length }: Network): string {
  const kept = length === 0 ? 0 : (place >> (bits - length)) << (bits - length)
  return `${addressAt(isV6, kept)}/${length + (isV6 ? 32 : 8)}`
}

/** The first address of the smallest network at `place`. */
function addressAt(isV6: boolean, place: number): string {
  const octets = isV6
    ? Uint8Array.of(0x20, 0x01, 0x0d, 0xb8, ...zeros(12))
    : Uint8Array.of(10, 0, 0, 0)
  const at = isV6 ? 4 : 1
  octets[at] = place >> 1
  octets[at + 1] = (place & 1) << 7
  return formatAddress(octets)
}
const zeros = (count: number): number[] => Array<number>(count).fill(0)

const endpoints = ['192.0.2.1', '192.0.2.2', '192.0.2.3', '198.51.100.7']
const endpoint = fc.constantFrom(...endpoints)

const worlds: fc.Arbitrary<World> = fc.record({
  countries: distinct(fc.constantFrom('DE', 'FR', 'JP', 'US', 'US-CA', 'US-NY', 'FR-75')).map(
    (all) => all.map(([cidr, code]) => [cidr, code] as const),
  ),
  operators: distinct(fc.constantFrom(1, 2, 3)).map((all) =>
    all.map(([cidr, asn]) => [cidr, asn, `Carrier ${asn}`] as const),
  ),
  places: distinct(
    fc.tuple(fc.integer({ min: -80, max: 80 }), fc.integer({ min: -170, max: 170 })),
  ).map((all) => all.map(([cidr, [lat, lon]]) => [cidr, lat, lon] as const)),
})

function distinct<T>(value: fc.Arbitrary<T>): fc.Arbitrary<(readonly [string, T])[]> {
  return fc.uniqueArray(
    fc.tuple(network, value).map(([net, given]) => [cidrOf(net), given] as const),
    { minLength: 1, maxLength: 12, selector: ([cidr]) => cidr },
  )
}

const rules = fc.uniqueArray(
  fc.record({ net: network, endpoints: fc.array(endpoint, { minLength: 1, maxLength: 2 }) }),
  { maxLength: 12, selector: ({ net }) => cidrOf(net) },
)
interface Rule {
  readonly net: Network
  readonly endpoints: string[]
}

function rangesOf(all: Rule[]): ClientRanges {
  const prefixes = all.map(({ net }, value) => {
    const cidr = parseCidr(cidrOf(net))
    if (!cidr.ok) throw new Error(cidr.error)
    return { ...cidr.value, value }
  })
  const { ranges4, ranges6 } = prefixesToRanges(prefixes)
  return {
    v4: ranges4.map(({ value, ...range }) => ({ ...range, endpoints: all[value]!.endpoints })),
    v6: ranges6.map(({ value, ...range }) => ({ ...range, endpoints: all[value]!.endpoints })),
  }
}

const places = fc.constantFrom(
  ...['DE', 'FR', 'continent:EU', 'continent:AS', 'unknown', 'US', 'US-CA', 'US-TX', 'FR-75'],
)

interface Case {
  readonly world: World
  readonly regions: readonly string[]
  readonly mapRules: Rule[]
  readonly geoRules: Rule[]
  readonly asn: readonly (readonly [number, string])[]
  readonly unhealthy: readonly number[]
}
const cases: fc.Arbitrary<Case> = fc.record({
  world: worlds,
  regions: fc.array(places, { minLength: 3, maxLength: 3 }),
  mapRules: rules,
  geoRules: rules,
  asn: fc.array(fc.tuple(fc.integer({ min: 1, max: 3 }), endpoint), { maxLength: 3 }),
  unhealthy: fc.array(fc.nat(2), { maxLength: 2 }),
})

function modelOf({ regions, mapRules, geoRules, asn }: Case, choice: Choice): BundleModel {
  const members = regions.map((region, i) => member(endpoints[i]!, { region }))
  return {
    ...bareModel,
    zones: [zone('test.')],
    pools: [pool(1, members, choice.geoRules === true ? { geoRules: rangesOf(geoRules) } : {})],
    services: [
      service(1, 'a.test.', {
        algorithm: choice.algorithm ?? 'round-robin',
        filterChain: choice.chain ?? [],
        answerCount: choice.answerCount ?? 1,
        pool: 0,
      }),
    ],
    routing: {
      ...plainRouting,
      latency: {
        ...plainRouting.latency,
        fallbackRegion: choice.fallbackRegion ?? 'unknown',
      },
      mapRules: rangesOf(mapRules),
      asnRules: asn.map(([number, name]) => asnRule(name, { asn: number })),
      endpointLocations: endpoints
        .slice(0, 2)
        .map((name, i) => ({ endpoint: name, lat: 40 * i - 20, lon: 90 * i })),
    },
  }
}

interface Choice {
  readonly algorithm?: string
  readonly chain?: readonly string[]
  readonly geoRules?: boolean
  readonly fallbackRegion?: string
  /** With all of them in the reply, what a step does to each candidate can be seen. */
  readonly answerCount?: number
}

const single: readonly (readonly [string, Choice])[] = [
  ['algorithm geo-ip', { algorithm: 'geo-ip' }],
  ['algorithm asn', { algorithm: 'asn' }],
  ['algorithm map-file', { algorithm: 'map-file' }],
  ['algorithm latency', { algorithm: 'latency' }],
  ['algorithm latency, fallback to nobody', { algorithm: 'latency', fallbackRegion: 'JP' }],
  ['algorithm latency, fallback to a country', { algorithm: 'latency', fallbackRegion: 'FR' }],
  [
    'algorithm latency, fallback to a subdivision',
    { algorithm: 'latency', fallbackRegion: 'US-CA' },
  ],
  ['algorithm latency with a fallback', { algorithm: 'latency', fallbackRegion: 'continent:EU' }],
  ['filter geo-ip', { chain: ['geo-ip'], answerCount: 3 }],
  ['filter asn', { chain: ['asn'], answerCount: 3 }],
  ['filter map-file', { chain: ['map-file'], answerCount: 3 }],
]

/** Several steps look at the client: two clients may come to the same by different ways. */
const several: readonly (readonly [string, Choice])[] = [
  ['failover with geo rules', { algorithm: 'failover', geoRules: true, answerCount: 2 }],
  ['map-file with geo rules', { algorithm: 'map-file', geoRules: true }],
  ...[
    ['asn', 'geo-ip', 'round-robin'],
    ['map-file', 'geo-ip', 'latency'],
    ['geo-ip', 'map-file'],
    ['geo-ip', 'asn', 'failover'],
    ['map-file', 'asn'],
    ['asn', 'map-file', 'geo-ip'],
    ['geo-ip', 'map-file', 'asn'],
    ['geo-ip', 'sticky'],
    ['sticky', 'map-file'],
    ['map-file', 'geo-ip', 'sticky'],
  ].flatMap((chain) => [
    [chain.join(', '), { chain }] as const,
    [`${chain.join(', ')}, with geo rules`, { chain, geoRules: true }] as const,
  ]),
]

/** What a client is answered at several turns of the rotation and draws of the dice. */
function answersTo(site: RoutingSite, client: string): string {
  const turns = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]
  return turns.map((turn) => site.choose(client, { turn }).addresses.join(' ')).join(', ')
}

const narrowing = ['geo-ip', 'asn', 'map-file', 'sticky']

/**
 * What each step was given and left, in order. What a selecting step takes is in turn or by chance.
 */
function treatmentOf(site: RoutingSite, client: string): string {
  site.choose(client)
  const { candidates, geoRuleMember, steps, chosen } = site.traceAgain()
  if (candidates.length === 1) return 'one'
  const lists = steps.map(({ way, after }) =>
    narrowing.includes(way.name) ? after.join(' ') : way.name,
  )
  // A match of a geo rule skips the steps.
  const ruled = geoRuleMember < 0 ? '' : `ruled ${chosen.join(' ')}`
  return [candidates.join(' '), ruled, ...lists].join(', ')
}

/** Whose members get the bonus of latency: draws would show it only by luck. */
function bonusFor(site: RoutingSite, client: string): string {
  site.choose(client)
  return site.traceAgain().candidates.length === 1 ? 'one' : String(site.chain.picked)
}

/** A step goes by the client's /24 or /64: other networks are others to it. */
function isByNetwork(site: RoutingSite, client: string): boolean {
  site.choose(client)
  return site
    .traceAgain()
    .steps.some(({ way, before }) => way.name === 'sticky' && before.length > 1)
}

/** Everything that the steps look at changes only where a smallest network begins. */
function ofAll(isV6: boolean, valueFor: (client: string) => string): string[] {
  return Array.from({ length: 2 ** bits }, (_, place) => valueFor(addressAt(isV6, place)))
}

const clientPlaces = fc.array(fc.nat(2 ** bits - 1), { minLength: 6, maxLength: 6 })

/** What is compared: answers, or what each step did. */
type Outcome = (site: RoutingSite, client: string) => string

/** Calls `check` with the scope that is given and the shortest that would be right. */
function forRandomWorlds(
  choice: Choice,
  outcomeOf: Outcome,
  check: (given: number, shortest: number) => void,
): void {
  fc.assert(
    fc.property(cases, fc.boolean(), clientPlaces, (given, isV6, clients) => {
      const site = routingSite(modelOf(given, choice), given.world)
      for (const [i, row] of [0, 1, 2].entries()) site.state.memberRttMs[row] = 40 ** i
      for (const row of given.unhealthy) site.state.memberHealthy[row] = 0
      rebuildPool(site.bundle, site.state, 0)
      const all = ofAll(isV6, (client) => outcomeOf(site, client))
      const outside = outcomeOf(site, isV6 ? '2001:db7::' : '9.255.255.255')
      for (const place of clients) {
        const client = addressAt(isV6, place)
        const own = isByNetwork(site, client) ? (isV6 ? 64 : 24) : 0
        const { scope } = site.choose(client)
        check(scope, Math.max(own, shortestScope(all, place, isV6 ? 32 : 8, outside)))
      }
    }),
    // A fixed seed: whether draws show that two networks differ must not be left to luck.
    { numRuns: laneCount(40, 6), seed: 20 },
  )
}

describe('the scope of the client subnet', () => {
  test.each(single)('%s: the shortest prefix in which all are answered alike', (_name, choice) => {
    const outcomeOf = choice.algorithm === 'latency' ? bonusFor : answersTo
    forRandomWorlds(choice, outcomeOf, (given, shortest) => {
      expect(given).toBe(shortest)
    })
  })

  test.each(several.slice(0, 6))(
    '%s: no prefix in which some are answered otherwise',
    (_name, choice) => {
      forRandomWorlds(choice, answersTo, (given, shortest) => {
        expect(given).toBeGreaterThanOrEqual(shortest)
      })
    },
  )

  test.each(several)(
    '%s: the shortest prefix in which all are treated alike in each step',
    (_name, choice) => {
      forRandomWorlds(choice, treatmentOf, (given, shortest) => {
        expect(given).toBe(shortest)
      })
    },
  )
})

/**
 * By looking at every network of the universe. What surrounds it is answered as `outside` is: one
 * bit less than the universe's own prefix already takes in some of it.
 */
function shortestScope(
  all: readonly string[],
  place: number,
  prefix: number,
  outside: string,
): number {
  for (let length = bits; length > 0; length--) {
    const size = 2 ** (bits - length + 1)
    const start = Math.floor(place / size) * size
    if (!all.slice(start, start + size).every((one) => one === all[place])) return prefix + length
  }
  return outside === all[place] ? 0 : prefix
}
