// Measures a node's first start and its restarts with many files: CPU until it is idle, memory, and
// the time until DNS and the API answer.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { callApi } from '#test/support/api-client.ts'
import { waitUntil } from '#test/support/wait-until.ts'
import { fixed, mib } from './report.ts'
import type { BenchContext, Figure, Report } from './report.ts'
import { pushPools, systemKey } from './servers/api-daemon.ts'
import { installProgram } from './servers/installed.ts'
import { startProgram } from './servers/program.ts'
import type { Program } from './servers/program.ts'
import { cpuTime, residentBytes } from './support/process-cpu.ts'

const patience = { timeoutMs: 300_000, intervalMs: 50 } as const

const sizes = [
  { name: '100', pools: 100, services: 100 },
  { name: '1000', pools: 1_000, services: 1_000 },
  { name: '10000', pools: 10_000, services: 10_000 },
  { name: '10000-in-100', pools: 100, services: 10_000 },
] as const

interface Begin {
  readonly gslbd: string
  readonly settings: string
  /** V8's compile cache, which `bin/gslbd` also uses. */
  readonly compileCache: string
  readonly restMs: number
}

interface Start {
  readonly cpuSeconds: number
  readonly dnsMs: number
  readonly apiMs: number
  readonly peakBytes: number
  readonly restBytes: number
}

export async function runStart({ isQuick, directory, say }: BenchContext): Promise<Report> {
  const rows: string[][] = []
  const figures: Record<string, Figure> = {}
  const installed = await installProgram(join(directory, 'program'))
  const restMs = isQuick ? 3_000 : 60_000
  for (const { name, pools, services } of isQuick ? sizes.slice(0, 1) : sizes) {
    const home = join(directory, `start-${name}`)
    const settings = prepare(home)
    const { gslbd } = installed
    const begin = { gslbd, settings, restMs, compileCache: join(home, 'compiled') }
    say(`${services} services in ${pools} pools: first start`)
    const first = await start(begin, (dataDir) => pushPools(home, dataDir, pools, services))
    const again: Start[] = []
    for (let i = 0; i < (isQuick ? 1 : 3); i++) {
      say(`${services} services in ${pools} pools: restart ${i + 1}`)
      again.push(await start(begin))
    }
    const restart = again.toSorted((a, b) => a.cpuSeconds - b.cpuSeconds)[again.length >> 1]!
    for (const [kind, one] of Object.entries({ first, restart })) {
      rows.push([
        ...[services, pools, pools + services + 1].map(String),
        kind,
        ...[one.cpuSeconds.toFixed(2), fixed(one.dnsMs, 0), fixed(one.apiMs, 0)],
        ...[mib(one.peakBytes), mib(one.restBytes)],
      ])
      const n = kind === 'first' ? 1 : again.length
      figures[`start.${kind}-${name}.cpu`] = { value: one.cpuSeconds, unit: 's', n }
      figures[`start.${kind}-${name}.memory`] = { value: one.restBytes, unit: 'B', n }
      figures[`start.${kind}-${name}.highest`] = { value: one.peakBytes, unit: 'B', n }
    }
  }
  const title = 'Start of a node that is everything in one, by the files of its configuration'
  const columns = [
    ...['services', 'pools', 'files', 'start', 'CPU s', 'DNS ms', 'API ms'],
    ...['highest MiB', 'at rest MiB'],
  ]
  const notes = [
    'CPU: of all threads and processes of the node, until it has used under 2 % of a core for 3 s',
    'first: nothing is there, nothing is compiled, and all files are pushed in one commit; restart: the middle of three',
    'the program is that of the packages, with the code that V8 has compiled in starts before',
    'at rest: a minute later',
    'DNS, API: from the start of the process until it says that it answers, and until the API lists a pool',
  ]
  return { tables: [{ title, columns, rows, notes }], figures }
}

/** @returns the path of the settings */
function prepare(home: string): string {
  const dataDir = join(home, 'data')
  mkdirSync(dataDir, { recursive: true })
  const settings = join(home, 'gslbd.yaml')
  const dns = { listenAddr: '127.0.0.1', port: 0, threads: 1 }
  writeFileSync(settings, JSON.stringify({ dataDir, dns, api: { enabled: true, port: 0 } }))
  return settings
}

async function start(
  { gslbd, settings, compileCache, restMs }: Begin,
  whenUp: (dataDir: string) => Promise<void> = () => Promise.resolve(),
): Promise<Start> {
  const startedMs = performance.now()
  const env = { GSLB_API_KEY: systemKey, NODE_COMPILE_CACHE: compileCache }
  const node = startProgram(gslbd, ['serve', '--settings', settings], { env })
  try {
    const running = /^\{.*"gslbd is running".*\}$/m
    const saying = waitUntil('DNS', () => running.exec(node.output())?.[0], patience)
    await whenUp(join(settings, '../data'))
    const line = await saying
    const dnsMs = performance.now() - startedMs
    const { apiPort } = JSON.parse(line) as { apiPort: number }
    await waitUntil('the API', () => hasPools(apiPort), patience)
    const apiMs = performance.now() - startedMs
    await waitUntil('rest', () => isAtRest(node), patience)
    // schedstat leaves out threads that have ended.
    const cpu = cpuTime(node.pid)
    await sleep(restMs)
    const { now, peak } = residentBytes(node.pid)
    return {
      cpuSeconds: (cpu.userTicks + cpu.systemTicks) / ticksPerSecond,
      dnsMs,
      apiMs,
      peakBytes: peak,
      restBytes: now,
    }
  } catch (error) {
    throw new Error(`${String(error)}\nthe node said:\n${node.output()}${node.errors()}`, {
      cause: error,
    })
  } finally {
    await node.stop()
  }
}

async function hasPools(apiPort: number): Promise<boolean> {
  const reply = await callApi<unknown[]>({ apiPort }, 'GET', '/pools?limit=1', {
    bearer: systemKey,
  })
  return Array.isArray(reply.body) && reply.body.length > 0
}

const ticksPerSecond = 100
const quietMs = 3_000

async function isAtRest(node: Program): Promise<boolean> {
  const before = cpuTime(node.pid).totalNs
  await sleep(quietMs)
  return cpuTime(node.pid).totalNs - before < quietMs * 1e6 * 0.02
}
