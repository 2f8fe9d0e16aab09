// gslbd beside its peers on one map of half a million networks, with client subnets all over the
// address space: each alone, then gslbd and gdnsd at the same instant.
import { cells, loadCore, serverCore } from '../answer.bench.ts'
import type { Sample } from '../answer.bench.ts'
import { fixed } from '../report.ts'
import type { BenchContext, Figure, Table } from '../report.ts'
import { geoName, startGeoGdnsd, startGeoGslbd, startGeoKnot, worldMap } from './geo-servers.ts'
import { cpuPerQuery, cpuTime } from './process-cpu.ts'
import type { RunningServer } from './servers.ts'
import { median, range } from './statistics.ts'
import { subnetLoad } from './subnet-load.ts'

export interface GeoPair {
  readonly table: Table
  readonly figures: Readonly<Record<string, Figure>>
}

interface GeoSample extends Sample {
  readonly meanScope: number
}

export async function measureGeoPair({ directory, isQuick, say }: BenchContext): Promise<GeoPair> {
  const map = worldMap()
  const starts = [startGeoGslbd, startGeoGdnsd, startGeoKnot]
  const servers: RunningServer[] = []
  try {
    for (const start of starts) {
      say(`starting a server on ${map.networks.length} networks`)
      const server = await start(directory, serverCore, map)
      if (server !== undefined) servers.push(server)
    }
    // The compiler of V8 is done after some hundred thousand queries.
    for (const server of servers) await load([server], isQuick ? 3 : 6)
    return await measure(servers, map.networks.length, { isQuick, say })
  } finally {
    for (const server of servers) await server.stop()
  }
}

async function measure(
  servers: readonly RunningServer[],
  networks: number,
  { isQuick, say }: Pick<BenchContext, 'isQuick' | 'say'>,
): Promise<GeoPair> {
  const rounds = isQuick ? 3 : 8
  const seconds = isQuick ? 1 : 6
  const rows: string[][] = []
  for (const server of servers) {
    const taken: GeoSample[] = []
    say(`${server.name} alone, ${rounds} rounds`)
    for (let i = 0; i < rounds; i++) taken.push(...(await load([server], seconds)))
    rows.push([server.name, 'alone', ...row(taken), ''])
  }
  const [gslbd, gdnsd] = servers
  const ratios: number[] = []
  if (gdnsd?.name === 'gdnsd') {
    const taken: [GeoSample[], GeoSample[]] = [[], []]
    for (let round = 0; round < rounds; round++) {
      say(`at the same instant, round ${round + 1} of ${rounds}`)
      // The one whose load starts first has a moment alone: take turns.
      const isFirst = round % 2 === 0
      const pair = await load(isFirst ? [gslbd!, gdnsd] : [gdnsd, gslbd!], seconds)
      const [ours, theirs] = isFirst ? [pair[0]!, pair[1]!] : [pair[1]!, pair[0]!]
      taken[0].push(ours)
      taken[1].push(theirs)
      ratios.push(ours.totalMicros / theirs.totalMicros)
    }
    const ratio = `${fixed(median(ratios), 3)} (${range(ratios, 3)})`
    rows.push(['gslbd', 'same instant', ...row(taken[0]), ratio])
    rows.push(['gdnsd', 'same instant', ...row(taken[1]), '1'])
  }
  return {
    table: tableOf(rows, networks),
    figures:
      ratios.length === 0
        ? {}
        : { 'routing.pair': { value: median(ratios), unit: 'ratio', n: ratios.length } },
  }
}

function row(samples: readonly GeoSample[]): string[] {
  const scope = median(samples.map(({ meanScope }) => meanScope))
  return [String(samples.length), ...cells(samples), fixed(scope, 2)]
}

function tableOf(rows: readonly (readonly string[])[], networks: number): Table {
  return {
    title: `CPU per query on a map of ${networks} networks, each query with another client subnet`,
    columns: [
      'server',
      '',
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
      'gslbd: map-file; gdnsd: geoip plugin with a nets file; Knot: geoip module in subnet mode',
      'IPv4 subnets of /24; the ratio is taken in each round, its median counts',
      'a scope is shorter where neighbours are answered alike: caches then keep fewer answers',
    ],
  }
}

/** Loads the servers, all at once. @returns a sample for each, in their order */
async function load(servers: readonly RunningServer[], seconds: number): Promise<GeoSample[]> {
  const before = servers.map(({ pid }) => cpuTime(pid))
  const results = await Promise.all(
    servers.map(({ port }) => subnetLoad({ port, qname: geoName, seconds }, loadCore)),
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
