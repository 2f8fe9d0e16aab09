// DNS over TCP, TLS and HTTPS: CPU time of a query, and memory of a connection that is open, beside
// BIND and dnsdist.
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { encodeQuery } from './data/query-wire.ts'
import { dnsperf } from './load/dnsperf.ts'
import { httpsLoad } from './load/https-load.ts'
import type { HttpsMethod } from './load/https-frames.ts'
import { idleConnections } from './load/idle-connections.ts'
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
  { name: 'https', connections: 50, outstanding: 50, method: 'POST' },
]
const settleMs = 2_000

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
      'sessions are made before; P-256',
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
  const before = cpuOf(server)
  const { completed, queriesPerSecond } = await ask(server, way, queryFile, seconds)
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

async function ask(
  { ports }: SecureServer,
  { name, connections, outstanding, method }: Way,
  queryFile: string,
  seconds: number,
): Promise<{ readonly completed: number; readonly queriesPerSecond: number }> {
  if (method === undefined) {
    const [mode, port] =
      name === 'tcp' ? (['tcp', ports.tcp] as const) : (['dot', ports.tls] as const)
    const run = {
      mode,
      port,
      queryFile,
      seconds,
      clients: connections,
      outstandingMax: outstanding,
    }
    return dnsperf({ ...run, core: loadCore })
  }
  const run = { port: ports.https, path: httpsPath, query, method, connections, seconds }
  const result = await httpsLoad({ ...run, outstanding: outstanding / connections }, loadCore)
  if (result.failed > 0) throw new Error(`${result.failed} replies over HTTPS were not 200`)
  return { completed: result.answered, queriesPerSecond: result.answered / result.seconds }
}

async function measureMemory(
  { isQuick, directory, say }: BenchContext,
  figures: Record<string, Figure>,
): Promise<Table> {
  const connections = isQuick ? 200 : 10_000
  const rows: string[][] = []
  for (const over of ['tls', 'https'] as const) {
    for (const name of installed) {
      say(`${connections} connections over ${over}: ${name}`)
      const home = join(directory, over)
      // Memory that another load has left behind would be in the figure.
      const server = await startSecureServer(name, { directory: home, names, core: serverCore })
      try {
        const held = await hold(server, over, connections)
        if (name === 'gslbd') {
          const value = held.grown / held.open / 1_024
          figures[`transports.${over}.memory`] = { value, unit: 'KiB', n: held.open }
        }
        rows.push([
          ...[over, name, String(held.open), mib(held.before), mib(held.before + held.grown)],
          ...[fixed(held.grown / held.open / 1_024, 1), fixed(held.cpuMs / held.open, 2)],
        ])
      } finally {
        await server.stop()
      }
    }
  }
  return {
    title: 'Memory of connections that are open, each with one query that was answered',
    columns: [
      ...['over', 'server', 'connections', 'MiB before', 'MiB with them'],
      ...['KiB each', 'CPU ms of a connection'],
    ],
    rows,
    notes: ['resident memory of a server that has just started; sessions are not resumed'],
  }
}

async function hold(
  server: SecureServer,
  over: 'tls' | 'https',
  connections: number,
): Promise<{ open: number; before: number; grown: number; cpuMs: number }> {
  const resident = (): number => server.pids.reduce((sum, pid) => sum + residentBytes(pid).now, 0)
  const spentNs = (): number => cpuOf(server).reduce((sum, { totalNs }) => sum + totalNs, 0)
  const [before, cpuNs] = [resident(), spentNs()]
  const path = over === 'tls' ? null : httpsPath
  const plan = { port: server.ports[over], connections, query, path }
  const { open, program } = await idleConnections(plan, loadCore)
  await sleep(settleMs)
  const held = { open, before, grown: resident() - before, cpuMs: (spentNs() - cpuNs) / 1e6 }
  await program.stop()
  return held
}
