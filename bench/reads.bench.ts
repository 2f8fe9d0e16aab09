// Measures reads of one member over HTTP: the real daemon on one core, a client on another.
import { fileURLToPath } from 'node:url'
import { callApi } from '#test/support/api-client.ts'
import { fixed } from './report.ts'
import type { BenchContext, Figure, Report } from './report.ts'
import { listed, startApiDaemon, systemKey, whatItSaid } from './servers/api-daemon.ts'
import type { ApiDaemon } from './servers/api-daemon.ts'
import { cpuPerQuery, cpuTime } from './support/process-cpu.ts'
import { runForJson } from './servers/program.ts'
import type { ReadLoad, ReadRun } from './load/read-load.ts'
import { median, range } from './support/statistics.ts'

const client = fileURLToPath(new URL('./load/read-load.ts', import.meta.url))
const ann = { email: 'ann@example.com', password: 'correct horse' }
const pools = 1_000
const connections = 16
const cores = { server: 0, client: 1 } as const

interface Target {
  readonly pid: number
  readonly apiPort: number
  readonly path: string
}

export async function runReads(context: BenchContext): Promise<Report> {
  const { isQuick, directory, say } = context
  const daemon = await startApiDaemon(directory, { pools, core: cores.server })
  try {
    const target = await targetOf(daemon)
    const bearers = { 'system key': systemKey, session: await sessionOf(target) }
    const figures: Record<string, Figure> = {}
    const rows: string[][] = []
    for (const [credential, bearer] of Object.entries(bearers)) {
      const runs = await measure(context, target, bearer)
      const of = (pick: (run: MeasuredRun) => number): number[] => runs.map(pick)
      const rates = of(({ reads, seconds }) => reads / seconds)
      const cpu = median(of(({ cpuMicros }) => cpuMicros))
      const n = runs.reduce((sum, { reads }) => sum + reads, 0)
      rows.push([
        credential,
        fixed(median(rates), 0),
        range(rates, 0),
        fixed(cpu, 1),
        fixed(median(of(({ p50Ms }) => p50Ms)), 2),
        fixed(median(of(({ p99Ms }) => p99Ms)), 2),
        String(n),
      ])
      const name = credential.replace(' ', '-')
      figures[`reads.${name}.per-read`] = { value: 1e6 / median(rates), unit: 'µs', n }
      figures[`reads.${name}.cpu`] = { value: cpu, unit: 'µs', n }
      say(`${credential}: ${fixed(median(rates), 0)}/s`)
    }
    return { tables: [tableOf(rows, isQuick)], figures }
  } catch (error) {
    throw whatItSaid(daemon.program, error)
  } finally {
    await daemon.program.stop()
  }
}

const tableOf = (rows: readonly string[][], isQuick: boolean) => ({
  title: `GET /members/{id} of ${pools} pools, ${connections} connections that stay open`,
  columns: ['credential', 'reads/s', 'min-max', 'CPU µs/read', 'p50 ms', 'p99 ms', 'reads'],
  rows,
  notes: [
    `median of ${roundsOf(isQuick).rounds} rounds; the whole daemon has one core, the client another`,
    'each connection has one request under way: nothing is pipelined',
    'CPU: all threads of the daemon, kernel time included',
  ],
})

const roundsOf = (isQuick: boolean) =>
  isQuick ? { rounds: 1, seconds: 1 } : { rounds: 5, seconds: 6 }

interface MeasuredRun extends ReadRun {
  readonly cpuMicros: number
}

async function measure(
  { isQuick }: BenchContext,
  { pid, apiPort, path }: Target,
  bearer: string,
): Promise<MeasuredRun[]> {
  const { rounds, seconds } = roundsOf(isQuick)
  const load: ReadLoad = { port: apiPort, path, bearer, connections, seconds }
  const runOnce = (settings: ReadLoad) =>
    runForJson<ReadRun>([client, JSON.stringify(settings)], { core: cores.client })
  // Warms up the compiler.
  await runOnce({ ...load, seconds: isQuick ? 1 : 5 })
  const runs: MeasuredRun[] = []
  for (let round = 0; round < rounds; round++) {
    const before = cpuTime(pid)
    const run = await runOnce(load)
    const { totalMicros } = cpuPerQuery(before, cpuTime(pid), run.reads)
    runs.push({ ...run, cpuMicros: totalMicros })
  }
  return runs
}

async function targetOf(daemon: ApiDaemon): Promise<Target> {
  const pool = (await listed(daemon, '/pools')).at(-1)!
  const [member] = await listed(daemon, `/pools/${pool.id}/members`)
  const { program, apiPort } = daemon
  return { pid: program.pid, apiPort, path: `/api/v1/members/${member!.id}` }
}

async function sessionOf(target: Target): Promise<string> {
  await callApi(target, 'POST', '/auth/setup', { body: ann })
  const login = await callApi<{ token: string }>(target, 'POST', '/auth/login', { body: ann })
  return login.body.token
}
