// CPU time per query, of gslbd and of its peers: each in turn, then gslbd and gdnsd at the same
// instant.
import { fixed } from './report.ts'
import type { BenchContext, Figure, Report, Table } from './report.ts'
import { dnsperf, ednsModes } from './load/dnsperf.ts'
import type { DnsperfResult, EdnsMode } from './load/dnsperf.ts'
import { cpuPerQuery, cpuTime } from './support/process-cpu.ts'
import type { CpuPerQuery } from './support/process-cpu.ts'
import { isServerInstalled, serverNames, startServer, writeQueryFile } from './servers/servers.ts'
import type { RunningServer, ServerName } from './servers/servers.ts'
import { median, range } from './support/statistics.ts'

const names = 10_000
export const serverCore = 0
export const loadCore = 1

export interface Sample extends CpuPerQuery {
  readonly queriesPerSecond: number
}

interface Round {
  readonly queryFile: string
  readonly seconds: number
  readonly edns: EdnsMode
  readonly clients?: number
}

/**
 * One client is a load balancer or a forwarder: many queries of a batch have one source. Resolvers
 * are many sources.
 */
const pairModes: readonly {
  readonly figure: string
  readonly edns: EdnsMode
  readonly clients: number
}[] = [
  ...ednsModes.map((edns) => ({ figure: edns.name, edns, clients: 1 })),
  { figure: 'resolvers', edns: ednsModes[1], clients: 100 },
]

export async function runAnswer(context: BenchContext): Promise<Report> {
  const queryFile = writeQueryFile(context.directory, names)
  const servers = await startInstalled(context, serverNames)
  try {
    for (const { port } of servers) await dnsperf({ port, queryFile, seconds: 2, core: loadCore })
    const inTurn = await runInTurn(context, servers, queryFile)
    const gslbd = servers.find(({ name }) => name === 'gslbd')!
    const gdnsd = servers.find(({ name }) => name === 'gdnsd')
    if (gdnsd === undefined) return { tables: [inTurn, missingPair], figures: {} }
    const pair = await runPairs(context, [gslbd, gdnsd], queryFile)
    return { tables: [inTurn, pair.table], figures: pair.figures }
  } finally {
    for (const server of servers) await server.stop()
  }
}

/** Every server that this machine has, all on one core; an idle one costs next to nothing. */
export async function startInstalled(
  { directory, say }: BenchContext,
  wanted: readonly ServerName[],
): Promise<RunningServer[]> {
  const servers: RunningServer[] = []
  for (const name of wanted.filter(isServerInstalled)) {
    say(`starting ${name} on ${names} names`)
    servers.push(await startServer(name, { directory, names, core: serverCore }))
  }
  return servers
}

async function runInTurn(
  { isQuick, say }: BenchContext,
  servers: readonly RunningServer[],
  queryFile: string,
): Promise<Table> {
  const rounds = isQuick ? 1 : 5
  const samples = new Map<string, Sample[]>()
  for (const edns of ednsModes.slice(0, 2)) {
    for (let round = 0; round < rounds; round++) {
      say(`in turn, EDNS ${edns.name}, round ${round + 1} of ${rounds}`)
      for (const server of servers) {
        const key = `${server.name} ${edns.name}`
        const [sample] = await load([server], { queryFile, edns, seconds: isQuick ? 1 : 6 })
        samples.set(key, [...(samples.get(key) ?? []), sample!])
      }
    }
  }
  const rows = ednsModes.slice(0, 2).flatMap((edns) =>
    serverNames.map((name) => {
      const taken = samples.get(`${name} ${edns.name}`) ?? []
      if (!isServerInstalled(name))
        return [name, edns.name, '0', ...Array<string>(5).fill('-'), 'not installed']
      return [name, edns.name, String(taken.length), ...cells(taken), '']
    }),
  )
  return {
    title: `CPU per query, each server in turn (${names} names, 1 UDP thread)`,
    columns: [
      'server',
      'EDNS',
      'n',
      'user µs',
      'system µs',
      'total µs',
      'total min-max',
      'queries/s',
      '',
    ],
    rows,
    notes: [
      'server and load have a core each; medians; all threads and children of the server',
      'Knot and NSD serve a static zone of one address for each name',
    ],
  }
}

export function cells(samples: readonly Sample[]): string[] {
  const of = (pick: (sample: Sample) => number): number => median(samples.map(pick))
  return [
    fixed(
      of((sample) => sample.userMicros),
      2,
    ),
    fixed(
      of((sample) => sample.systemMicros),
      2,
    ),
    fixed(
      of((sample) => sample.totalMicros),
      2,
    ),
    range(
      samples.map((sample) => sample.totalMicros),
      2,
    ),
    fixed(
      of((sample) => sample.queriesPerSecond),
      0,
    ),
  ]
}

const missingPair: Table = {
  title: 'CPU per query, gslbd and gdnsd at the same instant',
  columns: ['server', ''],
  rows: [['gdnsd', 'not installed']],
  notes: [],
}

async function runPairs(
  { isQuick, say }: BenchContext,
  [gslbd, gdnsd]: readonly [RunningServer, RunningServer],
  queryFile: string,
): Promise<{ table: Table; figures: Record<string, Figure> }> {
  const rounds = isQuick ? 2 : 8
  const rows: string[][] = []
  const figures: Record<string, Figure> = {}
  for (const { figure, edns, clients } of pairModes) {
    const ratios: number[] = []
    const [ours, theirs]: [Sample[], Sample[]] = [[], []]
    for (let round = 0; round < rounds; round++) {
      say(
        `at the same instant, EDNS ${edns.name}, clients ${clients}, round ${round + 1} of ${rounds}`,
      )
      // The one whose load starts first has a moment alone: take turns.
      const isFirst = round % 2 === 0
      const order = isFirst ? [gslbd, gdnsd] : [gdnsd, gslbd]
      const pair = await load(order, { queryFile, edns, clients, seconds: isQuick ? 1 : 6 })
      const [our, their] = isFirst ? [pair[0]!, pair[1]!] : [pair[1]!, pair[0]!]
      ours.push(our)
      theirs.push(their)
      ratios.push(our.totalMicros / their.totalMicros)
    }
    for (const [name, samples] of [
      ['gslbd', ours],
      ['gdnsd', theirs],
    ] as const) {
      const ratio = name === 'gslbd' ? [fixed(median(ratios), 3), range(ratios, 3)] : ['1', '']
      rows.push([name, edns.name, String(clients), String(rounds), ...cells(samples), ...ratio])
    }
    figures[`answer.pair.${figure}`] = { value: median(ratios), unit: 'ratio', n: rounds }
  }
  const table: Table = {
    title:
      'CPU per query, gslbd and gdnsd at the same instant on one core, the same load offered to each',
    columns: [
      'server',
      'EDNS',
      'clients',
      'n',
      'user µs',
      'system µs',
      'total µs',
      'total min-max',
      'queries/s',
      'ratio',
      'ratio min-max',
    ],
    rows,
    notes: ['the ratio is taken in each round; its median counts, not the ratio of medians'],
  }
  return { table, figures }
}

/** Loads the servers, all at once. @returns a sample for each, in their order */
export async function load(servers: readonly RunningServer[], round: Round): Promise<Sample[]> {
  const before = servers.map(({ pid }) => cpuTime(pid))
  const loads: Promise<DnsperfResult>[] = []
  for (const { port } of servers) loads.push(dnsperf({ ...round, port, core: loadCore }))
  const results = await Promise.all(loads)
  return servers.map(({ pid }, i) => ({
    ...cpuPerQuery(before[i]!, cpuTime(pid), results[i]!.completed),
    queriesPerSecond: results[i]!.queriesPerSecond,
  }))
}
