// DNS over TCP, TLS and HTTPS: CPU time of a query, and memory of a connection that is open, beside
// BIND and dnsdist.
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { encodeQuery } from './data/query-wire.ts'
import { dnsperf } from './load/dnsperf.ts'
import type { HttpsMethod } from './load/https-frames.ts'
import { askConnections, openConnections } from './load/secure-load.ts'
import type { Asked, AskPlan } from './load/secure-load.ts'
import { fixed, mib } from './report.ts'
import type { BenchContext, Figure, Report, Table } from './report.ts'
import { cells, loadCore, sampleColumns, serverCore } from './servers/duel.ts'
import type { Sample } from './servers/duel.ts'
import { versionOf } from './servers/program.ts'
import { isSecureServerInstalled, startSecureServer } from './servers/secure-servers.ts'
import { httpsPath, secureServerNames } from './servers/secure-servers.ts'
import type { SecureServer, SecureServerName } from './servers/secure-servers.ts'
import { writeQueryFile, zone } from './servers/servers.ts'
import { cpuPerQuery, cpuTime, residentBytes } from './support/process-cpu.ts'
import type { CpuTime } from './support/process-cpu.ts'
import { median } from './support/statistics.ts'

const names = 1_000
const query = Buffer.from(encodeQuery(`svc0.${zone}`, { edns: 'plain' })).toString('hex')

/** How it is asked: connections, and queries that all of them together have under way. */
interface Way {
  readonly name: string
  readonly connections: number
  readonly outstanding: number
  /** Left out: dnsperf asks. */
  readonly method?: HttpsMethod
}

const ways: readonly Way[] = [
  { name: 'tcp', connections: 50, outstanding: 500 },
  { name: 'tls', connections: 50, outstanding: 50 },
  { name: 'tls', connections: 50, outstanding: 500 },
  { name: 'https', connections: 4, outstanding: 200, method: 'GET' },
  { name: 'https', connections: 4, outstanding: 200, method: 'POST' },
  { name: 'https', connections: 50, outstanding: 500, method: 'POST' },
  { name: 'https', connections: 50, outstanding: 50, method: 'GET' },
  { name: 'https', connections: 50, outstanding: 50, method: 'POST' },
]
const settleMs = 2_000
/** dnsdist says 502 where an answer of Knot was lost between the two. */
const goodLeast = 0.95

export async function runTransports(context: BenchContext): Promise<Report> {
  const figures: Record<string, Figure> = {}
  const costs = await measureCosts(context, figures)
  const memory = await measureMemory(context, figures)
  return { tables: [costs, memory], figures }
}

const installed = secureServerNames.filter(isSecureServerInstalled)

interface Effort {
  readonly rounds: number
  readonly seconds: number
}

const effortOf = (isQuick: boolean): Effort =>
  isQuick ? { rounds: 1, seconds: 1 } : { rounds: 3, seconds: 3 }

type Taken = ReadonlyMap<SecureServerName, readonly Sample[]>

async function measureCosts(
  context: BenchContext,
  figures: Record<string, Figure>,
): Promise<Table> {
  const { isQuick, directory, say } = context
  const servers = new Map<SecureServerName, SecureServer>()
  const taken = new Map<Way, Taken>()
  try {
    for (const name of installed) {
      say(`starting ${name}`)
      servers.set(name, await startSecureServer(name, { directory, names, core: serverCore }))
    }
    for (const way of ways) taken.set(way, await takeTurns(way, servers, context))
  } finally {
    for (const server of servers.values()) await server.stop()
  }
  return costTable(taken, effortOf(isQuick), figures)
}

async function takeTurns(
  way: Way,
  servers: ReadonlyMap<SecureServerName, SecureServer>,
  { isQuick, directory, say }: BenchContext,
): Promise<Taken> {
  const { rounds, seconds } = effortOf(isQuick)
  const queryFile = writeQueryFile(directory, names)
  const taken = new Map<SecureServerName, Sample[]>()
  // The first round lets the compiler see enough.
  for (let round = 0; round <= rounds; round++) {
    say(`${titleOf(way)}: round ${round} of ${rounds}`)
    for (const [name, server] of servers) {
      const sample = await load(server, way, queryFile, seconds)
      if (round > 0) taken.set(name, [...(taken.get(name) ?? []), sample])
    }
  }
  return taken
}

function costTable(
  taken: ReadonlyMap<Way, Taken>,
  { rounds, seconds }: Effort,
  figures: Record<string, Figure>,
): Table {
  const rows = [...taken].flatMap(([way, samples]) => {
    const micros = (name: SecureServerName): number =>
      median((samples.get(name) ?? []).map(({ totalMicros }) => totalMicros))
    figures[`transports.${titleOf(way)}`] = { value: micros('gslbd'), unit: 'µs', n: rounds }
    return secureServerNames.map((name) => {
      const of = samples.get(name)
      const about = [titleOf(way), String(way.connections), name]
      if (of === undefined) return [...about, ...sampleColumns.map(() => '-'), 'not installed']
      return [...about, ...cells(of), fixed(micros('gslbd') / micros(name), 2)]
    })
  })
  const bind = versionOf('named', ['-v'], /\d[\w.+-]*/)
  const dnsdist = versionOf('dnsdist', ['--version'], /\d[\w.+-]*/)
  return {
    title: `CPU per query over TCP, TLS and HTTPS, each server in turn on one core, ${names} names`,
    columns: ['over', 'connections', 'server', ...sampleColumns, 'gslbd to it'],
    rows,
    notes: [
      `medians of ${rounds} rounds of ${seconds} s; the load is on the other core: dnsperf, over HTTPS frames of HTTP/2`,
      `each: queries that a connection has under way; bind: ${bind}; dnsdist ${dnsdist} before Knot, the CPU time of both`,
      'over HTTPS, connections are made before; P-256; replies other than 200 are not counted',
    ],
  }
}

const titleOf = ({ name, connections, outstanding, method }: Way): string =>
  [name, ...(method === undefined ? [] : [method]), `${outstanding / connections} each`].join(' ')

const cpuOf = ({ pids }: SecureServer): CpuTime[] => pids.map(cpuTime)

async function load(
  server: SecureServer,
  way: Way,
  queryFile: string,
  seconds: number,
): Promise<Sample> {
  const { before, completed, queriesPerSecond } = await ask(server, way, queryFile, seconds)
  const parts = cpuOf(server).map((after, i) => cpuPerQuery(before[i]!, after, completed))
  const sum = (of: (part: (typeof parts)[number]) => number): number =>
    parts.reduce((total, part) => total + of(part), 0)
  return {
    userMicros: sum(({ userMicros }) => userMicros),
    systemMicros: sum(({ systemMicros }) => systemMicros),
    totalMicros: sum(({ totalMicros }) => totalMicros),
    queriesPerSecond,
  }
}

interface Load {
  /** CPU time at its beginning. */
  readonly before: readonly CpuTime[]
  readonly completed: number
  readonly queriesPerSecond: number
}

async function ask(
  server: SecureServer,
  { name, connections, outstanding, method }: Way,
  queryFile: string,
  seconds: number,
): Promise<Load> {
  const { ports } = server
  if (method === undefined) {
    const [mode, port] =
      name === 'tcp' ? (['tcp', ports.tcp] as const) : (['dot', ports.tls] as const)
    const run = { mode, port, queryFile, seconds, clients: connections }
    const before = cpuOf(server)
    return { before, ...(await dnsperf({ ...run, outstandingMax: outstanding, core: loadCore })) }
  }
  const plan = { port: ports.https, path: httpsPath, query, method, connections }
  const { program } = await openConnections(plan, loadCore)
  const before = cpuOf(server)
  const each = outstanding / connections
  const {
    answered,
    good,
    seconds: took,
  } = await askConnections(program, { seconds, outstanding: each })
  await program.stop()
  if (good < answered * goodLeast)
    throw new Error(`${answered - good} of ${answered} replies over HTTPS were not 200`)
  return { before, completed: good, queriesPerSecond: good / took }
}

async function measureMemory(
  { isQuick, directory, say }: BenchContext,
  figures: Record<string, Figure>,
): Promise<Table> {
  const connections = isQuick ? 200 : 10_000
  const plan = isQuick ? { perSecond: 2_000, seconds: 1 } : { perSecond: 20_000, seconds: 5 }
  const rows: string[][] = []
  for (const over of ['tls', 'https'] as const) {
    for (const name of installed) {
      say(`${connections} connections over ${over}: ${name}`)
      const home = join(directory, over)
      // Memory that another load has left behind would be in the figure.
      const server = await startSecureServer(name, { directory: home, names, core: serverCore })
      try {
        const held = await hold(server, over, connections, plan)
        if (name === 'gslbd') {
          const value = held.grown / held.open / 1_024
          figures[`transports.${over}.memory`] = { value, unit: 'KiB', n: held.open }
          const n = held.load.answered
          figures[`transports.${over}.many`] = { value: held.micros, unit: 'µs', n }
        }
        rows.push([
          ...[over, name, String(held.open), mib(held.before), mib(held.before + held.grown)],
          ...[fixed(held.grown / held.open / 1_024, 1), fixed(held.cpuMs / held.open, 2)],
          ...[String(Math.round(held.load.asked / held.load.seconds)), fixed(held.micros, 1)],
          String(held.load.asked - held.load.good),
        ])
      } finally {
        await server.stop()
      }
    }
  }
  return {
    title:
      'Many connections: memory when each has asked once, and ' +
      `${plan.perSecond} queries/s over all`,
    columns: [
      ...['over', 'server', 'connections', 'MiB before', 'MiB with them'],
      ...['KiB each', 'CPU ms of a connection', 'queries/s', 'µs a query', 'not answered'],
    ],
    rows,
    notes: [
      'resident memory of a server that has just started; sessions are not resumed',
      'queries/s: what the load, which has the other core, has sent; it does not wait for answers',
    ],
  }
}

interface Held {
  readonly open: number
  readonly before: number
  readonly grown: number
  readonly cpuMs: number
  readonly load: Asked
  /** CPU time of a query. */
  readonly micros: number
}

async function hold(
  server: SecureServer,
  over: 'tls' | 'https',
  connections: number,
  asks: AskPlan,
): Promise<Held> {
  const resident = (): number => server.pids.reduce((sum, pid) => sum + residentBytes(pid).now, 0)
  const spentNs = (): number => cpuOf(server).reduce((sum, { totalNs }) => sum + totalNs, 0)
  const [before, cpuNs] = [resident(), spentNs()]
  const path = over === 'tls' ? null : httpsPath
  const plan = { port: server.ports[over], connections, query, path, method: 'POST' as const }
  const { open, program } = await openConnections(plan, loadCore)
  await sleep(settleMs)
  const held = { open, before, grown: resident() - before, cpuMs: (spentNs() - cpuNs) / 1e6 }
  const idleNs = spentNs()
  const load = await askConnections(program, asks)
  const micros = (spentNs() - idleNs) / 1_000 / load.answered
  await program.stop()
  return { ...held, load, micros }
}
