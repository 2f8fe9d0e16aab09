// A node's first start and its restarts with many files: CPU until nothing runs, memory, and how
// soon it answers DNS and the API.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { setTimeout as sleep } from 'node:timers/promises'
import { callApi } from '#test/support/api-client.ts'
import { waitUntil } from '#test/support/wait-until.ts'
import { fixed, mib } from './report.ts'
import type { BenchContext, Figure, Report } from './report.ts'
import { pushPools, systemKey } from './servers/api-daemon.ts'
import { nodeFlags, startProgram } from './servers/program.ts'
import type { Program } from './servers/program.ts'
import { cpuTime, residentBytes } from './support/process-cpu.ts'

const main = fileURLToPath(import.meta.resolve('#cli/main.ts'))
const patience = { timeoutMs: 300_000, intervalMs: 50 } as const

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
  for (const pools of isQuick ? [100] : [100, 1_000, 10_000]) {
    const home = join(directory, `start-${pools}`)
    const settings = prepare(home)
    say(`${pools} pools: first start`)
    const cache = join(home, 'compiled')
    const first = await start(settings, cache, (dataDir) => pushPools(home, dataDir, pools))
    const again: Start[] = []
    for (let i = 0; i < (isQuick ? 1 : 3); i++) {
      say(`${pools} pools: restart ${i + 1}`)
      again.push(await start(settings, cache))
    }
    const restart = again.toSorted((a, b) => a.cpuSeconds - b.cpuSeconds)[again.length >> 1]!
    for (const [name, one] of Object.entries({ first, restart })) {
      rows.push([
        String(2 * pools + 1),
        name,
        ...[one.cpuSeconds.toFixed(2), fixed(one.dnsMs, 0), fixed(one.apiMs, 0)],
        ...[mib(one.peakBytes), mib(one.restBytes)],
      ])
      const n = name === 'first' ? 1 : again.length
      figures[`start.${name}-${pools}.cpu`] = { value: one.cpuSeconds, unit: 's', n }
      figures[`start.${name}-${pools}.memory`] = { value: one.restBytes, unit: 'B', n }
    }
  }
  const title = 'Start of a node that is everything in one, by the files of its configuration'
  const columns = ['files', 'start', 'CPU s', 'DNS ms', 'API ms', 'peak MiB', 'at rest MiB']
  const notes = [
    'CPU: of all threads and processes of the node, until it has used under 2 % of a core for 3 s',
    'first: nothing is there, nothing is compiled, and all files are pushed in one commit; restart: the middle of three',
    'the program runs from its source; from dist/ it takes half of the CPU',
    'DNS, API: from the start of the process until it says that it answers, and until the API lists a pool',
  ]
  return { tables: [{ title, columns, rows, notes }], figures }
}

/** @returns the file of settings */
function prepare(home: string): string {
  const dataDir = join(home, 'data')
  mkdirSync(dataDir, { recursive: true })
  const settings = join(home, 'gslbd.yaml')
  const dns = { listenAddr: '127.0.0.1', port: 0, threads: 1 }
  writeFileSync(settings, JSON.stringify({ dataDir, dns, api: { enabled: true, port: 0 } }))
  return settings
}

/** @param compileCache what V8 has compiled: `bin/gslbd` keeps it as well */
async function start(
  settings: string,
  compileCache: string,
  whenUp: (dataDir: string) => Promise<void> = () => Promise.resolve(),
): Promise<Start> {
  const args = [...nodeFlags, main, 'serve', '--settings', settings]
  const startedMs = performance.now()
  const env = { GSLB_API_KEY: systemKey, NODE_COMPILE_CACHE: compileCache }
  const node = startProgram(process.execPath, args, { env })
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
    const { now, peak } = residentBytes(node.pid)
    // Threads that have ended are in no schedstat.
    const cpu = cpuTime(node.pid)
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
const restMs = 3_000

async function isAtRest(node: Program): Promise<boolean> {
  const before = cpuTime(node.pid).totalNs
  await sleep(restMs)
  return cpuTime(node.pid).totalNs - before < restMs * 1e6 * 0.02
}
