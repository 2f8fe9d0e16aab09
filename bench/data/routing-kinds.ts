// A service for each way of choosing a member, all with four members in four countries, and the
// tables that they use.
import { encodeBundle } from '#bundle/encode/encode.ts'
import { loadBundle } from '#bundle/load/load.ts'
import { plainRouting } from '#bundle/format/model.ts'
import type {
  BundleModel,
  ClientRange,
  ClientRanges,
  MemberModel,
  PoolModel,
  RoutingModel,
  ServiceModel,
} from '#bundle/format/model.ts'
import { plainCodeOf } from '#routing/choose/ways.ts'
import { asnPreferences } from '#routing/geo/asn-rules.ts'
import { createRoutingState } from '#routing/state/candidates.ts'
import { routingSettingsOf } from '#routing/choose/environment.ts'
import { packNetworks } from '#routing/tables/network-index.ts'
import { AsnTable } from '#routing/geo/geo-tables.ts'
import type { GeoBuffers } from '#routing/geo/geo-tables.ts'
import type { Generation } from '#answer/serving-view.ts'
import { millionStarts, operatorCount } from './geo-tables.ts'
import type { Clients } from './clients.ts'
import { benchUid, benchZone } from './many-services.ts'
import { measuredNetworks } from './rum-networks.ts'

/** Tables that a kind uses: countries of the world, or the made-up million. */
export type Tables = 'none' | 'world' | 'million'

export interface RoutingKind {
  readonly name: string
  readonly tables: Tables
  readonly algorithm?: string
  readonly filterChain?: readonly string[]
  /** Regions of the four members; default: the four countries. */
  readonly regions?: readonly string[]
  /** False: no rule of `mapFile` names a member of its pool. Default true. */
  readonly isInRules?: boolean
  /** Name of the budget for algorithms and filters that it counts against. */
  readonly budget?: string
}

const continents = ['continent:EU', 'continent:NA', 'continent:AS', 'continent:SA']
const oneCountry = ['DE', 'unknown', 'unknown', 'unknown']

/** The first one is the baseline. */
export const routingKinds: readonly RoutingKind[] = Object.freeze([
  { name: 'round-robin', tables: 'none', algorithm: 'round-robin' },
  {
    name: 'weighted-round-robin',
    tables: 'none',
    algorithm: 'weighted-round-robin',
    budget: 'wrr',
  },
  { name: 'failover', tables: 'none', algorithm: 'failover', budget: 'failover' },
  { name: 'geo-ip, 1.2 M networks', tables: 'world', algorithm: 'geo-ip', budget: 'geo-ip' },
  { name: 'map-file, 1 M networks', tables: 'million', algorithm: 'map-file', budget: 'map-file' },
  {
    name: 'map-file, rules for other pools',
    tables: 'million',
    algorithm: 'map-file',
    isInRules: false,
    budget: 'map-file',
  },
  { name: 'asn, 1 M networks, 40 rules', tables: 'million', algorithm: 'asn', budget: 'asn' },
  { name: 'latency, 1 M networks', tables: 'million', algorithm: 'latency', budget: 'latency' },
  chain('round-robin'),
  chain('weighted-round-robin', { budget: 'wrr' }),
  chain('failover', { budget: 'failover' }),
  chain('geo-ip', { name: 'four countries, world', tables: 'world', budget: 'geo-ip' }),
  chain('geo-ip', { name: 'four countries, 1 M', tables: 'million', budget: 'geo-ip' }),
  chain('geo-ip', {
    name: 'four continents, world',
    tables: 'world',
    regions: continents,
    budget: 'geo-ip',
  }),
  chain('geo-ip', {
    name: 'one country, world',
    tables: 'world',
    regions: oneCountry,
    budget: 'geo-ip',
  }),
  chain('asn', { tables: 'million', budget: 'asn' }),
  chain('map-file', { tables: 'million', budget: 'map-file' }),
  chain('latency', { budget: 'latency' }),
  chain('rum', { name: '20,000 networks measured' }),
  chain('signal-weight'),
  chain('sticky', { budget: 'sticky' }),
  chain('sticky-weighted', { budget: 'sticky' }),
  chain('geo-ip, sticky, round-robin', { tables: 'world' }),
  chain('map-file, geo-ip, weighted-round-robin', { tables: 'million' }),
])

function chain(steps: string, parts: Partial<RoutingKind> = {}): RoutingKind {
  const name = parts.name === undefined ? `[${steps}]` : `[${steps}] ${parts.name}`
  return { tables: 'none', filterChain: steps.split(', '), ...parts, name }
}

function uses({ algorithm, filterChain }: RoutingKind, step: string): boolean {
  return algorithm === step || filterChain?.includes(step) === true
}

export const domainOf = (kind: number): string => `kind${kind}.gslb.example.com.`
const memberAddress = (kind: number, k: number): string => `10.20.${kind}.${k + 1}`

function poolOf({ regions = ['DE', 'US', 'JP', 'BR'] }: RoutingKind, index: number): PoolModel {
  return {
    uid: benchUid(2, index),
    name: `pool${index}`,
    tenant: 'default',
    answer: 'addresses',
    members: [0, 1, 2, 3].map((k): MemberModel => ({
      uid: benchUid(3, index * 4 + k),
      name: `m${k}`,
      ipAddress: memberAddress(index, k),
      hostname: '',
      port: 443,
      weight: k + 1,
      priority: k + 1,
      enabled: true,
      region: regions[k]!,
      warmupThreshold: 0,
      rumUrl: '',
      externalSignalMode: 'and',
    })),
    healthCheck: null,
    minHealthy: 0,
    geoRules: { v4: [], v6: [] },
  }
}

function serviceOf(kind: RoutingKind, index: number): ServiceModel {
  return {
    uid: benchUid(1, index),
    name: `kind${index}`,
    tenant: 'default',
    domain: domainOf(index),
    zone: 0,
    algorithm: kind.algorithm ?? 'round-robin',
    filterChain: kind.filterChain ?? [],
    onAllDown: 'empty',
    answerCount: 1,
    ttlSeconds: 60,
    pool: index,
  }
}

/** Each range names a member of every pool with rules; neighbours name different ones. */
function mapRules(kinds: readonly RoutingKind[]): ClientRanges {
  const inRules = [...kinds.keys()].filter(
    (i) => uses(kinds[i]!, 'map-file') && kinds[i]!.isInRules !== false,
  )
  const endpointsOf = [0, 1, 2, 3].map((k) => inRules.map((i) => memberAddress(i, k)))
  const { starts4, starts6 } = millionStarts(5)
  const v4: ClientRange<number>[] = []
  for (let i = 0; i < starts4.length; i++) {
    const end = (starts4[i + 1] ?? 2 ** 32) - 1
    v4.push({ start: starts4[i]!, end, endpoints: endpointsOf[(i * 7 + (i >> 3)) & 3]! })
  }
  const v6: ClientRange<bigint>[] = []
  const start6 = (i: number): bigint =>
    i < starts6.length
      ? (BigInt(starts6[i]!) << 96n) | (BigInt(starts6[i + 1]!) << 64n)
      : 3n << 124n
  for (let i = 0; i < starts6.length; i += 2) {
    v6.push({
      start: start6(i),
      end: start6(i + 2) - 1n,
      endpoints: endpointsOf[((i >> 1) * 7 + (i >> 4)) & 3]!,
    })
  }
  return { v4, v6 }
}

/** Frankfurt, Ashburn, Tokyo, São Paulo. */
const cities = [
  [50.1, 8.7],
  [39, -77.5],
  [35.7, 139.7],
  [-23.5, -46.6],
] as const

function routingOf(kinds: readonly RoutingKind[], hasMap: boolean): RoutingModel {
  const all = [...kinds.keys()].flatMap((i) => [0, 1, 2, 3].map((k) => [i, k] as const))
  return {
    ...plainRouting,
    mapRules: hasMap ? mapRules(kinds) : { v4: [], v6: [] },
    // Ten operators with many networks; each pool has members for some of them.
    asnRules: all.flatMap(([i, k]) =>
      uses(kinds[i]!, 'asn')
        ? Array.from({ length: 10 }, (_, n) => ({
            asn: ((n * 4 + k) * 7) % operatorCount,
            org: '',
            endpoint: memberAddress(i, k),
          }))
        : [],
    ),
    endpointLocations: all.map(([i, k]) => {
      const [lat, lon] = cities[k]!
      return { endpoint: memberAddress(i, k), lat, lon }
    }),
    signals: { weight: 0.5, static: { DE: 30, US: 20, JP: 10, BR: 40 } },
  }
}

/** A bundle with a service for each kind, its tables, and measured round trips. */
export function routingGeneration(
  kinds: readonly RoutingKind[],
  geo: GeoBuffers,
  hasMap: boolean,
  rumClients: readonly Clients[] = [],
): Generation {
  const model: BundleModel = {
    commit: '',
    zones: [benchZone],
    pools: kinds.map(poolOf),
    services: kinds.map(serviceOf),
    routing: routingOf(kinds, hasMap),
    rrsets: [],
    responseRules: [],
    redirects: [],
    rollouts: [],
    windows: [],
  }
  const { bytes, digest } = encodeBundle(model, plainCodeOf)
  const loaded = loadBundle(bytes)
  if (!loaded.ok) throw new Error(loaded.error.message)
  const bundle = loaded.value
  const state = createRoutingState(bundle, 1)
  for (let i = 0; i < state.memberRttMs.length; i++) state.memberRttMs[i] = 10 + (i % 4) * 20
  const { asnRules } = routingSettingsOf(bundle)
  const asn = geo.asn === null ? null : asnPreferences(new AsnTable(geo.asn), asnRules)
  const rumPool = kinds.findIndex((kind) => uses(kind, 'rum'))
  const isMeasured = rumPool >= 0 && rumClients.length > 0
  const rum = isMeasured ? measuredNetworks(bundle, rumPool, 4, rumClients) : null
  const tables = { geo, asn, rum, networks: packNetworks(bundle) }
  return { number: 1, bundle: bytes, digest, routing: state.buffers, tables }
}
