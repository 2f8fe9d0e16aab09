// Reads over HTTP of one member: the real daemon on one core, a client on another.
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { callApi } from '#test/support/api-client.ts'
import { waitUntil } from '#test/support/wait-until.ts'
import { fixed } from './report.ts'
import type { BenchContext, Figure, Report } from './report.ts'
import { ConfigRepository } from './support/config-repository.ts'
import { cpuPerQuery, cpuTime } from './support/process-cpu.ts'
import { nodeFlags, runForJson, startProgram } from './support/program.ts'
import type { Program } from './support/program.ts'
import type { ReadLoad, ReadRun } from './support/read-load.ts'
import { median, range } from './support/statistics.ts'

const main = fileURLToPath(import.meta.resolve('#cli/main.ts'))
const client = fileURLToPath(new URL('./support/read-load.ts', import.meta.url))
const systemKey = 'ab'.repeat(32)
const ann = { email: 'ann@example.com', password: 'correct horse' }
const pools = 1_000
const connections = 16
const cores = { server: 0, client: 1 } as const
const patience = { timeoutMs: 120_000 } as const

interface Target {
  readonly pid: number
  readonly apiPort: number
  readonly path: string
}

export async function runReads(context: BenchContext): Promise<Report> {
  const { isQuick, directory, say } = context
  const daemon = await startDaemon(directory)
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
    const said = `${daemon.output()}${daemon.errors()}`
    throw new Error(`${String(error)}\nthe daemon said:\n${said}`, { cause: error })
  } finally {
    await daemon.stop()
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
  // Until the compiler has seen enough.
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

async function startDaemon(home: string): Promise<Program> {
  const dataDir = join(home, 'data')
  mkdirSync(dataDir)
  const repository = new ConfigRepository(home)
  writeFileSync(join(dataDir, 'allowed_signers'), await repository.makeKey())
  const settings = join(home, 'gslbd.yaml')
  const dns = { listenAddr: '127.0.0.1', port: 0, threads: 1 }
  writeFileSync(settings, JSON.stringify({ dataDir, dns, api: { enabled: true, port: 0 } }))
  const args = [...nodeFlags, main, 'serve', '--settings', settings]
  const daemon = startProgram(process.execPath, args, {
    core: cores.server,
    env: { GSLB_API_KEY: systemKey },
  })
  const origin = join(dataDir, 'config.git')
  await waitUntil('the origin', () => existsSync(join(origin, 'HEAD')), patience)
  await repository.open(origin)
  repository.writeMany(pools, '192.0.2.1')
  await repository.commitAndPush(['.'])
  return daemon
}

async function targetOf(daemon: Program): Promise<Target> {
  const running = /^\{.*"gslbd is running".*\}$/m
  const line = await waitUntil('the daemon', () => running.exec(daemon.output())?.[0], patience)
  const { apiPort } = JSON.parse(line) as { apiPort: number }
  const list = async (path: string) =>
    (await callApi<{ id: string }[]>({ apiPort }, 'GET', path, { bearer: systemKey })).body
  const pool = await waitUntil('the pools', async () => (await list('/pools')).at(-1), patience)
  const [member] = await list(`/pools/${pool.id}/members`)
  return { pid: daemon.pid, apiPort, path: `/api/v1/members/${member!.id}` }
}

async function sessionOf(target: Target): Promise<string> {
  await callApi(target, 'POST', '/auth/setup', { body: ann })
  const login = await callApi<{ token: string }>(target, 'POST', '/auth/login', { body: ann })
  return login.body.token
}
