// Measures CPU time per query of gslbd and its peers: each in turn, then gslbd and gdnsd at the
// same instant.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { fixed } from './report.ts'
import type { BenchContext, Figure, Report, Table } from './report.ts'
import { dnsperf, ednsModes } from './load/dnsperf.ts'
import type { DnsperfResult, EdnsMode } from './load/dnsperf.ts'
import { cpuPerQuery, cpuTime } from './support/process-cpu.ts'
import { cells, duel, figureOf, grow, growthTable, loadCore } from './servers/duel.ts'
import { sampleColumns, serverCore } from './servers/duel.ts'
import type { Growth, Load, Sample } from './servers/duel.ts'
import { isServerInstalled, serverNames, startServer, writeQueryFile } from './servers/servers.ts'
import type { RunningServer, ServerName } from './servers/servers.ts'
import { range } from './support/statistics.ts'

const names = 10_000
/** Numbers of services for the growth table; the last one is used everywhere else. */
const counts = [1, 10, 100, 1_000, names]
/** Sockets of a load balancer with a few per server. */
const fewClients = 8

interface Round {
  readonly queryFile: string
  readonly seconds: number
  readonly edns: EdnsMode
  readonly clients?: number
}

const [none, edns, ecs] = ednsModes
/**
 * One client is a forwarder: all queries of a batch have one source. Many clients are resolvers.
 */
const pairModes = [
  { figure: 'none', edns: none, clients: fewClients },
  { figure: 'edns', edns, clients: fewClients },
  { figure: 'ecs', edns: ecs, clients: fewClients },
  { figure: 'forwarder', edns, clients: 1 },
  { figure: 'resolvers', edns, clients: 100 },
] as const

export async function runAnswer(context: BenchContext): Promise<Report> {
  const growth = isServerInstalled('gdnsd') ? await measureGrowth(context) : undefined
  const queryFile = writeQueryFile(context.directory, names)
  const servers = await startInstalled(context, serverNames)
  try {
    for (const { port } of servers) await dnsperf({ port, queryFile, seconds: 2, core: loadCore })
    const inTurn = await runInTurn(context, servers, queryFile)
    if (growth === undefined) return { tables: [inTurn, missingPair], figures: {} }
    const of = (name: ServerName) => servers.find((server) => server.name === name)!
    const pair = await runPairs(context, [of('gslbd'), of('gdnsd')], queryFile)
    return { tables: [growth, pair.table, inTurn], figures: pair.figures }
  } finally {
    for (const server of servers) await server.stop()
  }
}

async function measureGrowth(context: BenchContext): Promise<Table> {
  const grown: Growth[] = []
  for (const services of counts) {
    const directory = join(context.directory, String(services))
    mkdirSync(directory)
    const options = { directory, names: services, core: serverCore }
    const queryFile = writeQueryFile(context.directory, services)
    const servers: RunningServer[] = []
    try {
      for (const name of ['gslbd', 'gdnsd'] as const) servers.push(await startServer(name, options))
      const run: Load<Sample> = (order, seconds) =>
        load(order, { queryFile, edns, clients: fewClients, seconds })
      grown.push(await grow(services, servers, context, run))
    } finally {
      for (const server of servers) await server.stop()
    }
  }
  return growthTable('Round robin, CPU per query and memory', grown, [
    `EDNS, ${fewClients} client sockets, a pool of four members for each service`,
  ])
}

/**
 * Starts every server installed on this machine, all on one core; idle ones cost next to nothing.
 */
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
    columns: ['server', 'EDNS', 'n', ...sampleColumns, ''],
    rows,
    notes: [
      'server and load have a core each; medians; all threads and children of the server',
      'Knot and NSD serve a static zone of one address for each name',
    ],
  }
}

const missingPair: Table = {
  title: 'CPU per query, gslbd and gdnsd at the same instant',
  columns: ['server', ''],
  rows: [['gdnsd', 'not installed']],
  notes: [],
}

async function runPairs(
  { isQuick, say }: BenchContext,
  pair: readonly [RunningServer, RunningServer],
  queryFile: string,
): Promise<{ table: Table; figures: Record<string, Figure> }> {
  const run = { rounds: isQuick ? 2 : 8, seconds: isQuick ? 1 : 6 }
  const rows: string[][] = []
  const figures: Record<string, Figure> = {}
  for (const { figure, ...mode } of pairModes) {
    say(`at the same instant, EDNS ${mode.edns.name}, clients ${mode.clients}`)
    const loadBoth: Load<Sample> = (order, seconds) => load(order, { queryFile, ...mode, seconds })
    // An uncounted round compiles the code that only this mode needs.
    await loadBoth(pair, run.seconds)
    const taken = await duel(pair, run, loadBoth)
    const found = (figures[`answer.pair.${figure}`] = figureOf(taken))
    const facts = [mode.edns.name, String(mode.clients), String(run.rounds)]
    const ratio = [fixed(found.value, 3), range(taken.ratios, 3)]
    rows.push(['gslbd', ...facts, ...cells(taken.ours), ...ratio])
    rows.push(['gdnsd', ...facts, ...cells(taken.theirs), '1', ''])
  }
  const table: Table = {
    title: `CPU per query of ${names} services, gslbd and gdnsd at the same instant on one core`,
    columns: ['server', 'EDNS', 'clients', 'n', ...sampleColumns, 'ratio', 'ratio min-max'],
    rows,
    notes: [
      'the ratio is taken in each round; its median counts, not the ratio of medians',
      'ecs: EDNS with one client subnet, which round robin echoes with the scope 0',
    ],
  }
  return { table, figures }
}

/** Loads all servers at once. @returns a sample for each, in their order */
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
