// A fleet on one machine, faults one after the other, and what clients saw of them:
// node bench/chaos/main.ts [--seconds 60] [--services 10000] [--rate 2000] [--only WORD] [--keep]
// Without --only all of them; it may be given often. Needs root, and Redis, PostgreSQL, git and
// libfaketime. It makes network namespaces of its own.
// node bench/chaos/main.ts churn [--seconds 900] [--seed 1] [--keep]
// Random writes to two nodes, each compared with a clean look; needs git alone.
import { execFileSync } from 'node:child_process'
import { appendFileSync, chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { waitUntil } from '#test/support/wait-until.ts'
import { fixed } from '../report.ts'
import { ConfigRepository } from '../servers/config-repository.ts'
import { plainTable } from '../support/print-table.ts'
import { faults, smallDisks } from './faults.ts'
import type { Fault, Fleet } from './faults.ts'
import type { Hosted } from './hosted.ts'
import { answering, ports, queryAddress } from './hosts.ts'
import type { LoadOptions } from './load.ts'
import { Monitor } from './monitor.ts'
import type { Seen } from './monitor.ts'
import { Network } from './network.ts'
import { Nodes } from './nodes.ts'
import { Stores } from './stores.ts'
import { beatName, Writer } from './writer.ts'

const { values: flags, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seconds: { type: 'string' },
    seed: { type: 'string', default: '1' },
    services: { type: 'string', default: '10000' },
    rate: { type: 'string', default: '2000' },
    only: { type: 'string', multiple: true, default: [''] },
    keep: { type: 'boolean', default: false },
  },
})
const holdMs = Number(flags.seconds ?? 60) * 1_000
const services = Number(flags.services)
const rate = Number(flags.rate)
const commitEveryMs = 5_000
const startPatienceMs = 300_000
const recoveryPatienceMs = 120_000
const diskBytes = '256m'

const say = (text: string): boolean => process.stderr.write(`${text}\n`)
if (positionals.includes('churn')) {
  const { runChurn } = await import('../churn/run.ts')
  const seconds = Number(flags.seconds ?? 900)
  const isWell = await runChurn({ seconds, seed: Number(flags.seed), isKept: flags.keep })
  process.exit(isWell ? 0 : 1)
}
const directory = mkdtempSync(join(tmpdir(), 'gslbd-chaos-'))
chmodSync(directory, 0o755)
const mounted: string[] = []
/** Rejects on a signal, so that an early end cleans up, too. */
const interrupted = new Promise<never>((_, reject) => {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    // Replaces the handler that ends a benchmark at once.
    process.removeAllListeners(signal).once(signal, () => reject(new Error(`ended by ${signal}`)))
  }
})
interrupted.catch(() => undefined)

async function runAll(network: Network): Promise<void> {
  const origin = join(directory, 'origin')
  mkdirSync(join(origin, 'config.git'), { recursive: true })
  execFileSync('git', ['init', '-q', '--bare', '-b', 'main', join(origin, 'config.git')])
  const repository = new ConfigRepository(join(directory, 'writer'))
  const signers = await repository.makeKey()
  await repository.open(join(origin, 'config.git'))
  const nodes = new Nodes(network, directory)
  for (const host of smallDisks) mountSmall(nodes.dataOf(host))
  nodes.prepare(signers)
  const stores = new Stores(network, directory, origin)
  const writer = new Writer(repository, commitEveryMs)
  const monitor = new Monitor(network, writer, nodes.answering, loadOptions())
  const everyone = [...stores.all, stores.hostile, ...nodes.all]
  try {
    const run = async (): Promise<void> => {
      say(`${services} services, ${rate} queries/s to each of ${answering.length} nodes`)
      await writer.first(services)
      await stores.start()
      for (const node of nodes.all) node.start()
      writer.start()
      monitor.start()
      const isEverywhere = (): boolean => {
        const { beats } = monitor
        return beats.size === answering.length && [...beats.values()].every((beat) => beat >= 0)
      }
      await waitUntil('every node to answer', isEverywhere, { timeoutMs: startPatienceMs })
      await sleep(commitEveryMs)
      await runFaults({ network, nodes, stores }, monitor, everyone)
    }
    await Promise.race([run(), interrupted])
  } finally {
    // Also after a failure, so that nothing stays behind.
    await Promise.allSettled([writer.stop(), monitor.stop()])
    await Promise.all(everyone.map((one) => one.end()))
  }
}

async function runFaults(
  fleet: Fleet,
  monitor: Monitor,
  everyone: readonly Hosted[],
): Promise<void> {
  const rows: string[][] = []
  const isChosen = ({ name }: Fault): boolean => flags.only.some((word) => name.includes(word))
  for (const fault of faults.filter(isChosen)) {
    rows.push(await runOne(fleet, fault, monitor))
    say(rows.at(-1)!.join(' | '))
    for (const { name, crashes } of everyone.filter((one) => one.crashes > 0)) {
      say(`${name} has ended by itself, ${crashes} times so far`)
    }
  }
  process.stdout.write(`${plainTable({ title: 'Faults of a fleet', columns, rows, notes })}\n`)
}

const columns = [
  'fault',
  'seconds',
  'queries',
  'lost',
  'lost of killed nodes',
  'late',
  'dropped by clients',
  'wrong',
  'longest gap ms',
  'of killed nodes ms',
  'of clients ms',
  'oldest answer s',
  'recovered after s',
  'load',
]
const notes = [
  'lost: no answer for 2 s; of killed nodes: from when their process is killed until they answer',
  'late: of the lost ones, answered after all',
  'dropped by clients: of the lost ones, answers that their sockets had no room for',
  'longest gap: of answers of a node; of clients: how long these slept themselves',
  'oldest answer: how long after a newer commit was pushed; one is pushed every 5 s',
  'recovered: a commit made after the end of the fault is answered by all nodes',
]

async function runOne(fleet: Fleet, fault: Fault, monitor: Monitor): Promise<string[]> {
  say(`fault: ${fault.name}`)
  monitor.begin()
  const startMs = performance.now()
  await fault.run(fleet, holdMs)
  const endMs = performance.now()
  const recoveredMs = await monitor.recovered(recoveryPatienceMs)
  const seen = await monitor.end()
  for (const sample of seen.samples.slice(0, 3)) say(`wrong: ${sample}`)
  appendFileSync(
    join(directory, 'seen.jsonl'),
    `${JSON.stringify({ name: fault.name, ...seen })}\n`,
  )
  const load = fixed(loadavg()[0]!, 1)
  const took = fixed((endMs - startMs) / 1_000, 0)
  return [fault.name, took, ...cells(seen), recoveredIn(recoveredMs), load]
}

function cells(seen: Seen): string[] {
  const { sent, lost, lostOfKilled, late, overrun, wrong } = seen
  const counts = [sent, lost, lostOfKilled, late, overrun, wrong].map(String)
  const gapsMs = [seen.gapMs, seen.gapOfKilledMs, seen.sleptMs].map((ms) => fixed(ms, 0))
  return [...counts, ...gapsMs, fixed(seen.ageMs / 1_000, 1)]
}

const recoveredIn = (ms: number | undefined): string =>
  ms === undefined ? `not in ${recoveryPatienceMs / 1_000}` : fixed(ms / 1_000, 1)

function mountSmall(path: string): void {
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${diskBytes}`, 'none', path])
  mounted.push(path)
}

function loadOptions(): LoadOptions {
  const asked = Array.from({ length: 1_000 }, (_, i) => Math.floor((i * services) / 1_000))
  return {
    nodes: answering.map((host) => ({ name: host.name, address: queryAddress(host) })),
    ...{ port: ports.dns, rate, beat: beatName },
    names: asked.map((service) => {
      const pool = Math.floor(service / 10)
      return {
        qname: `svc${service}.gslb.example.com.`,
        prefix: [10, (pool >> 8) & 255, pool & 255],
      }
    }),
  }
}

const network = await Network.make()
try {
  await runAll(network)
} finally {
  network.remove()
  await sleep(1_000)
  for (const path of mounted) execFileSync('umount', ['-l', path])
  if (flags.keep) say(`logs: ${directory}`)
  else rmSync(directory, { recursive: true, force: true })
}
process.exit()
