// Compares gslbd with its peers on one map of half a million networks, with client subnets across
// the address space: each alone, then gslbd and gdnsd at the same instant.
import { fixed } from '../report.ts'
import type { BenchContext, Figure, Table } from '../report.ts'
import { cells, duel, figureOf, grow, growthTable, loadCore } from './duel.ts'
import { sampleColumns, serverCore } from './duel.ts'
import type { Growth, Load, Sample } from './duel.ts'
import { geoNames, startGeoGdnsd, startGeoGslbd, startGeoKnot, worldMap } from './geo-servers.ts'
import type { GeoKind, GeoMap } from './geo-servers.ts'
import { cpuPerQuery, cpuTime } from '../support/process-cpu.ts'
import type { RunningServer } from './servers.ts'
import { median, range } from '../support/statistics.ts'
import { subnetLoad } from '../load/subnet-load.ts'

interface GeoPair {
  readonly tables: readonly Table[]
  readonly figures: Readonly<Record<string, Figure>>
}

interface GeoSample extends Sample {
  readonly meanScope: number
}

interface Measured {
  readonly kind: GeoKind
  readonly services: number
  /** Besides growth: measures each server alone, and with each number of senders. */
  readonly isWhole?: boolean
}

/** Starts with many services, as most operators have. */
const maps: readonly Measured[] = [
  { kind: 'chain', services: 1_000, isWhole: true },
  { kind: 'chain', services: 1 },
  { kind: 'chain', services: 10 },
  { kind: 'chain', services: 100 },
  { kind: 'chain', services: 10_000 },
  { kind: 'map-file', services: 1, isWhole: true },
]
/** gdnsd compares each address with all others before it answers: 310,000 take it an hour. */
const peerServicesMax = 1_000

const nameOf = ({ kind, services }: GeoMap): string =>
  services === 1 ? kind : `${kind}-${services}`

/** One sender is a forwarder; resolvers are many. */
const senderCounts = [1, 8, 100]

export async function measureGeoPair(context: BenchContext): Promise<GeoPair> {
  const tables: Table[] = []
  const grown: Growth[] = []
  const figures: Record<string, Figure> = {}
  for (const { kind, services, isWhole } of maps) {
    const map = worldMap(kind, services)
    const servers: RunningServer[] = []
    try {
      for (const start of startsOf(map)) {
        context.say(
          `starting a server: ${services} services, ${map.networks.length} networks, ${kind}`,
        )
        const server = await start(context.directory, serverCore, map)
        if (server !== undefined) servers.push(server)
      }
      // The growth run comes first, since V8 needs some hundred thousand queries to warm up.
      const growth = await grow(services, servers.slice(0, 2), context, loadOf(map, 8))
      if (kind === 'chain') grown.push(growth)
      if (isWhole === true) tables.push(await measure(servers, map, context, figures))
    } finally {
      for (const server of servers) await server.stop()
    }
  }
  const growth = growthTable('[geo-ip, failover], CPU per query and memory', grown, [
    '31 members for each service, 8 senders, each query with another client subnet',
    `without gdnsd above ${peerServicesMax} services: it compares each address with all others first`,
  ])
  return { tables: [growth, ...tables], figures }
}

function startsOf({ kind, services }: GeoMap) {
  if (kind !== 'chain') return [startGeoGslbd, startGeoGdnsd, startGeoKnot]
  return services > peerServicesMax ? [startGeoGslbd] : [startGeoGslbd, startGeoGdnsd]
}

async function measure(
  servers: readonly RunningServer[],
  map: GeoMap,
  { isQuick, say }: Pick<BenchContext, 'isQuick' | 'say'>,
  figures: Record<string, Figure>,
): Promise<Table> {
  const run = { rounds: isQuick ? 3 : 8, seconds: isQuick ? 1 : 4 }
  const rows: string[][] = []
  for (const server of servers) {
    say(`${server.name} alone, ${run.rounds} rounds`)
    const { ours } = await duel([server], run, loadOf(map, 1))
    rows.push([server.name, 'alone', '1', ...row(ours), ''])
  }
  const pair = servers.slice(0, 2)
  if (pair[1]?.name !== 'gdnsd') return tableOf(rows, map)
  for (const senders of senderCounts) {
    say(`at the same instant, ${senders} senders, ${run.rounds} rounds`)
    const taken = await duel(pair, run, loadOf(map, senders))
    const found = (figures[`routing.pair.${nameOf(map)}.${senders}`] = figureOf(taken))
    const ratio = `${fixed(found.value, 3)} (${range(taken.ratios, 3)})`
    rows.push(['gslbd', 'same instant', `${senders}`, ...row(taken.ours), ratio])
    rows.push(['gdnsd', 'same instant', `${senders}`, ...row(taken.theirs), '1'])
  }
  return tableOf(rows, map)
}

function row(samples: readonly GeoSample[]): string[] {
  const scope = median(samples.map(({ meanScope }) => meanScope))
  return [String(samples.length), ...cells(samples), fixed(scope, 2)]
}

const kindNotes = {
  'map-file':
    'gslbd: map-file; gdnsd: geoip plugin with a nets file; Knot: geoip module in subnet mode',
  chain: 'gslbd: filterChain [geo-ip, failover], members in 31 countries; gdnsd: geoip plugin',
}

function tableOf(rows: readonly (readonly string[])[], map: GeoMap): Table {
  const { kind, services, networks } = map
  const count = services === 1 ? 'one service' : `${services} services`
  return {
    title:
      `CPU per query, ${kind}, ${count} on a map of ${networks.length} networks, ` +
      'each query with another client subnet',
    columns: ['server', '', 'senders', 'n', ...sampleColumns, 'mean scope', 'ratio'],
    rows,
    notes: [
      kindNotes[kind],
      'IPv4 subnets of /24; the ratio is taken in each round, its median counts',
      'a scope is shorter where neighbours are answered alike: caches then keep fewer answers',
    ],
  }
}

const loadOf =
  (map: GeoMap, senders: number): Load<GeoSample> =>
  async (servers, seconds) => {
    const before = servers.map(({ pid }) => cpuTime(pid))
    const qnames = geoNames(map)
    const results = await Promise.all(
      servers.map(({ port }) => subnetLoad({ port, qnames, seconds, senders }, loadCore)),
    )
    return servers.map(({ pid, name }, i) => {
      const { answered, sent, scopes, seconds: took } = results[i]!
      if (answered < sent / 2) throw new Error(`${name} answered ${answered} of ${sent} queries`)
      return {
        ...cpuPerQuery(before[i]!, cpuTime(pid), answered),
        queriesPerSecond: answered / took,
        meanScope: scopes / answered,
      }
    })
  }
