// Measures queries left unanswered when a node is replaced by another process under load.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { setTimeout as sleep } from 'node:timers/promises'
import { waitUntil } from '#test/support/wait-until.ts'
import { fixed } from './report.ts'
import type { BenchContext, Report } from './report.ts'
import { whatItSaid } from './servers/api-daemon.ts'
import { ConfigRepository, probeName } from './servers/config-repository.ts'
import { dnsperf } from './load/dnsperf.ts'
import type { DnsperfResult } from './load/dnsperf.ts'
import { nodeFlags, startProgram } from './servers/program.ts'
import type { Program } from './servers/program.ts'
import { runningPorts } from './servers/pulling-nodes.ts'
import { hasAnswer, QueryClient } from './load/query-client.ts'
import { writeQueryFile } from './servers/servers.ts'

const main = fileURLToPath(import.meta.resolve('#cli/main.ts'))
const services = 10_000
const standard = { rate: 20_000, queries: 1_000_000 } as const
const quick = { rate: 2_000, queries: 10_000 } as const
/** Pause between two replacements. */
const pauseMs = 5_000
/** Open queries of all clients: enough that waiting ones do not hold up others. */
const outstandingMax = 60_000

interface Replaced {
  readonly startedMs: number
  readonly tookMs: number
}

export async function runReplace(context: BenchContext): Promise<Report> {
  const { directory, say, load: asked } = context
  const { rate, queries } = { ...(context.isQuick ? quick : standard), ...asked }
  const seconds = Math.max(1, Math.round(queries / rate))
  const settings = await makeSite(directory)
  let node = startNode(settings)
  try {
    const { port } = await runningPorts(node)
    await giveServices(directory, port)
    const queryFile = writeQueryFile(directory, services)
    const droppedBefore = kernelDrops()
    say(`${rate} queries/s for ${seconds} s`)
    let isOver = false
    const shared = { port, queryFile, seconds, rate, clients: 20 }
    const load = dnsperf({ ...shared, outstandingMax }).finally(() => (isOver = true))
    const replaced: Replaced[] = []
    await sleep(500)
    const startedMs = performance.now()
    const isTime = (): boolean => performance.now() - startedMs < (seconds - 1) * 1_000
    while (isTime() && !isOver) {
      const beganMs = performance.now()
      const old = node
      node = startNode(settings, '--replace')
      const how = await Promise.race([node.ended, old.ended])
      if (old.child.exitCode !== 0) throw new Error(`a process was not replaced (${how})`)
      replaced.push({ startedMs: beganMs - startedMs, tookMs: performance.now() - beganMs })
      say(`replacement ${replaced.length}: ${fixed(replaced.at(-1)!.tookMs / 1_000, 1)} s`)
      await sleep(isTime() ? Math.min(pauseMs, seconds * 100) : 0)
    }
    const result = await load
    return reportOf(result, kernelDrops() - droppedBefore, replaced, rate)
  } catch (error) {
    throw whatItSaid(node, error)
  } finally {
    await node.stop()
  }
}

function reportOf(
  result: DnsperfResult,
  dropped: number,
  replaced: readonly Replaced[],
  rate: number,
): Report {
  const failed = result.completed - (result.byRcode['NOERROR'] ?? 0)
  const ours = Math.max(0, result.lost - dropped)
  const took = replaced.map(({ tookMs }) => tookMs / 1_000)
  const figure = (value: number) => ({ value, unit: 'queries', n: replaced.length })
  return {
    tables: [
      {
        title: `Replacements of a node with ${services} services at ${rate} queries/s, one thread`,
        columns: ['what', 'value', 'unit'],
        rows: [
          ['replacements, complete', String(replaced.length), ''],
          ['from the start of a process to the end of the one before', rangeOf(took), 's'],
          ['queries sent', String(result.sent), 'queries'],
          ['lost', String(result.lost), 'queries'],
          ['dropped by the kernel, sockets being full (RcvbufErrors)', String(dropped), 'queries'],
          ['lost because of us', String(ours), 'queries'],
          ['answered with another code than NOERROR', String(failed), 'queries'],
          ['sent a second', fixed(result.sent / result.seconds, 0), 'queries/s'],
          ['worst latency', fixed(result.latencyMs.most, 1), 'ms'],
          ['mean latency', fixed(result.latencyMs.mean, 2), 'ms'],
        ],
        notes: [
          'dnsperf with 20 sockets, which go on sending while answers are missing; a query without an answer for 2 s is lost',
          'the kernel counts drops of all sockets of the machine; with fewer than these lost, none is because of a replacement',
        ],
      },
    ],
    figures: { 'replace.lost': figure(ours), 'replace.failed': figure(failed) },
  }
}

const rangeOf = (values: readonly number[]): string =>
  values.length === 0 ? '-' : `${fixed(Math.min(...values), 1)}..${fixed(Math.max(...values), 1)}`

/** A node with its own repository. @returns the file of its settings */
async function makeSite(home: string): Promise<string> {
  const dataDir = join(home, 'data')
  mkdirSync(dataDir, { recursive: true })
  const key = await new ConfigRepository(home).makeKey()
  writeFileSync(join(dataDir, 'allowed_signers'), key)
  const path = join(home, 'gslbd.yaml')
  const dns = { listenAddr: '127.0.0.1', port: 0, threads: 1 }
  writeFileSync(path, JSON.stringify({ dataDir, dns, api: { enabled: true, port: 0 } }))
  return path
}

const startNode = (settings: string, ...more: readonly string[]): Program =>
  startProgram(process.execPath, [...nodeFlags, main, 'serve', '--settings', settings, ...more])

async function giveServices(home: string, port: number): Promise<void> {
  const origin = join(home, 'data', 'config.git')
  await waitUntil('the origin', () => existsSync(join(origin, 'HEAD')))
  const repository = new ConfigRepository(home)
  await repository.open(origin)
  repository.writeMany(services, '192.0.2.1')
  await repository.commitAndPush(['.'])
  const client = new QueryClient(port)
  await client.open()
  await client.waitFor(probeName, hasAnswer, { everyMs: 100, patienceMs: 300_000 })
  client.close()
}

/** UDP datagrams dropped for lack of receive buffers since boot. */
function kernelDrops(): number {
  const [names = '', values = ''] = readFileSync('/proc/net/snmp', 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('Udp:'))
  const at = names.split(' ').indexOf('RcvbufErrors')
  return Number(values.split(' ')[at])
}
