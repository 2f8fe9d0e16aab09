// gslbd beside its peers on one map of half a million networks, with client subnets all over the
// address space: each alone, then gslbd and gdnsd at the same instant.
import { cells, loadCore, serverCore } from '../answer.bench.ts'
import type { Sample } from '../answer.bench.ts'
import { fixed } from '../report.ts'
import type { BenchContext, Figure, Table } from '../report.ts'
import { geoNames, startGeoGdnsd, startGeoGslbd, startGeoKnot, worldMap } from './geo-servers.ts'
import type { GeoMap } from './geo-servers.ts'
import { cpuPerQuery, cpuTime } from '../support/process-cpu.ts'
import type { RunningServer } from './servers.ts'
import { median, range } from '../support/statistics.ts'
import { subnetLoad } from '../load/subnet-load.ts'
import type { SubnetLoad } from '../load/subnet-load.ts'

export interface GeoPair {
  readonly tables: readonly Table[]
  readonly figures: Readonly<Record<string, Figure>>
}

interface GeoSample extends Sample {
  readonly meanScope: number
}

/** Many services first: what most operators have. */
const maps = [
  { kind: 'chain', services: 1_000 },
  { kind: 'chain', services: 1 },
  { kind: 'map-file', services: 1 },
] as const

const nameOf = ({ kind, services }: GeoMap): string =>
  services === 1 ? kind : `${kind}-${services}`

/** One is a forwarder; resolvers are many. */
const senderCounts = [1, 8, 100]

export async function measureGeoPair(context: BenchContext): Promise<GeoPair> {
  const tables: Table[] = []
  const figures: Record<string, Figure> = {}
  for (const { kind, services } of maps) {
    const map = worldMap(kind, services)
    const starts = kind === 'chain' ? [startGeoGslbd, startGeoGdnsd] : everyStart
    const servers: RunningServer[] = []
    try {
      for (const start of starts) {
        context.say(
          `starting a server: ${services} services, ${map.networks.length} networks, ${kind}`,
        )
        const server = await start(context.directory, serverCore, map)
        if (server !== undefined) servers.push(server)
      }
      // The compiler of V8 is done after some hundred thousand queries.
      const seconds = context.isQuick ? 3 : 6
      for (const server of servers) await load([server], map, { seconds, senders: 1 })
      tables.push(await measure(servers, map, context, figures))
    } finally {
      for (const server of servers) await server.stop()
    }
  }
  return { tables, figures }
}

const everyStart = [startGeoGslbd, startGeoGdnsd, startGeoKnot]

async function measure(
  servers: readonly RunningServer[],
  map: GeoMap,
  { isQuick, say }: Pick<BenchContext, 'isQuick' | 'say'>,
  figures: Record<string, Figure>,
): Promise<Table> {
  const rounds = isQuick ? 3 : 8
  const seconds = isQuick ? 1 : 4
  const rows: string[][] = []
  for (const server of servers) {
    const taken: GeoSample[] = []
    say(`${server.name} alone, ${rounds} rounds`)
    for (let i = 0; i < rounds; i++)
      taken.push(...(await load([server], map, { seconds, senders: 1 })))
    rows.push([server.name, 'alone', '1', ...row(taken), ''])
  }
  const [gslbd, gdnsd] = servers
  if (gdnsd?.name !== 'gdnsd') return tableOf(rows, map)
  for (const senders of senderCounts) {
    const taken: [GeoSample[], GeoSample[]] = [[], []]
    const ratios: number[] = []
    for (let round = 0; round < rounds; round++) {
      say(`at the same instant, ${senders} senders, round ${round + 1} of ${rounds}`)
      // The one whose load starts first has a moment alone: take turns.
      const isFirst = round % 2 === 0
      const order = isFirst ? [gslbd!, gdnsd] : [gdnsd, gslbd!]
      const pair = await load(order, map, { seconds, senders })
      const [ours, theirs] = isFirst ? [pair[0]!, pair[1]!] : [pair[1]!, pair[0]!]
      taken[0].push(ours)
      taken[1].push(theirs)
      ratios.push(ours.totalMicros / theirs.totalMicros)
    }
    const ratio = `${fixed(median(ratios), 3)} (${range(ratios, 3)})`
    rows.push(['gslbd', 'same instant', `${senders}`, ...row(taken[0]), ratio])
    rows.push(['gdnsd', 'same instant', `${senders}`, ...row(taken[1]), '1'])
    const figure = { value: median(ratios), unit: 'ratio', n: ratios.length }
    figures[`routing.pair.${nameOf(map)}.${senders}`] = figure
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
    columns: [
      'server',
      '',
      'senders',
      'n',
      'user µs',
      'system µs',
      'total µs',
      'total min-max',
      'queries/s',
      'mean scope',
      'ratio',
    ],
    rows,
    notes: [
      kindNotes[kind],
      'IPv4 subnets of /24; the ratio is taken in each round, its median counts',
      'a scope is shorter where neighbours are answered alike: caches then keep fewer answers',
    ],
  }
}

/** Loads the servers, all at once. @returns a sample for each, in their order */
async function load(
  servers: readonly RunningServer[],
  map: GeoMap,
  run: Pick<SubnetLoad, 'seconds' | 'senders'>,
): Promise<GeoSample[]> {
  const before = servers.map(({ pid }) => cpuTime(pid))
  const qnames = geoNames(map)
  const results = await Promise.all(
    servers.map(({ port }) => subnetLoad({ port, qnames, ...run }, loadCore)),
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
