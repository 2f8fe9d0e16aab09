// Measures the effect of probing on answers: the latency of a server that probes 30,000 members
// over HTTP, and of one without probes.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { setTimeout as sleep } from 'node:timers/promises'
import { loadCore } from './servers/duel.ts'
import { fixed, mib } from './report.ts'
import type { BenchContext, Report } from './report.ts'
import { dnsperf } from './load/dnsperf.ts'
import { bundleFiles } from './data/encode-bundle.ts'
import { cpuTime, residentBytes } from './support/process-cpu.ts'
import { startGslbd, writeQueryFile } from './servers/servers.ts'
import type { Gslbd } from './servers/servers.ts'
import { median, percentile } from './support/statistics.ts'

const names = 10_000
const rate = 20_000
const targets = 30_000
/** Longer than an interval, so that every member has been probed. */
const rampMs = 12_000
const percentiles = [50, 99, 99.9] as const

interface Sample {
  /** Milliseconds, by percentile. */
  readonly at: Readonly<Record<number, number>>
  readonly lost: number
  /** CPU cores used by the whole process during the measurement. */
  readonly cores: number
}

export async function runProbing({ isQuick, say, directory }: BenchContext): Promise<Report> {
  const queryFile = writeQueryFile(directory, names)
  const { paths } = await bundleFiles(directory, 'probing', { services: names, pools: names })
  const script = fileURLToPath(new URL('./health.bench.ts', import.meta.url))
  const backends = spawn(process.execPath, [script, 'backends'], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const servers = new Map<string, Gslbd>()
  const samples = new Map<string, Sample[]>()
  try {
    const [printed] = (await once(backends.stdout, 'data')) as [Buffer]
    const ports = JSON.parse(printed.toString()) as number[]
    servers.set('no probes', await startGslbd(paths, {}))
    const probing = { targets: isQuick ? 3_000 : targets, ports }
    servers.set(`${probing.targets} probes / 10 s`, await startGslbd(paths, { probing }))
    for (const { port } of servers.values())
      await dnsperf({ port, queryFile, seconds: 1, core: loadCore })
    if (!isQuick) await sleep(rampMs)
    const rounds = isQuick ? 1 : 8
    for (let round = 0; round < rounds; round++) {
      say(`${rate} queries/s, round ${round + 1} of ${rounds}`)
      for (const [name, server] of round % 2 === 0 ? servers : [...servers].reverse()) {
        const sample = await load(server, queryFile, isQuick ? 1 : 5)
        samples.set(name, [...(samples.get(name) ?? []), sample])
      }
    }
    return reportOf(samples, servers)
  } finally {
    for (const server of servers.values()) await server.stop()
    // They exit when their input ends.
    backends.stdin.end()
  }
}

async function load({ port, pid }: Gslbd, queryFile: string, seconds: number): Promise<Sample> {
  const before = cpuTime(pid)
  const startedMs = performance.now()
  const run = { port, queryFile, seconds, core: loadCore, rate, wantsLatencies: true }
  const { latencies, lost } = await dnsperf(run)
  const tookNs = (performance.now() - startedMs) * 1e6
  const cores = (cpuTime(pid).totalNs - before.totalNs) / tookNs
  const at = Object.fromEntries(percentiles.map((p) => [p, percentile(latencies, p)]))
  return { at, lost, cores }
}

function reportOf(
  samples: ReadonlyMap<string, readonly Sample[]>,
  servers: ReadonlyMap<string, Gslbd>,
): Report {
  const rows = [...samples].map(([name, taken]) => {
    const middle = (of: (sample: Sample) => number): number => median(taken.map(of))
    return [
      name,
      String(taken.length),
      ...percentiles.map((p) =>
        fixed(
          middle(({ at }) => at[p]! * 1_000),
          0,
        ),
      ),
      String(taken.reduce((sum, { lost }) => sum + lost, 0)),
      fixed(
        middle(({ cores }) => cores),
        2,
      ),
      mib(residentBytes(servers.get(name)!.pid).peak),
    ]
  })
  const [without = [], beside = []] = [...samples.values()]
  const added = (p: number): number =>
    median(beside.map(({ at }, round) => at[p]! - without[round]!.at[p]!))
  const unit = 'ms'
  return {
    tables: [
      {
        title: `Latency at ${rate} queries/s, beside probes`,
        columns: ['server', 'n', ...percentiles.map((p) => `p${p} µs`), 'lost', 'cores', 'peak MB'],
        rows,
        notes: [
          'seen by dnsperf; medians of the rounds; the probed servers run on the same machine',
          'cores are of the whole process, answers and probes',
        ],
      },
    ],
    figures: {
      'probing.p50-added': { value: added(50), unit, n: beside.length },
      'probing.p99-added': { value: added(99), unit, n: beside.length },
    },
  }
}
