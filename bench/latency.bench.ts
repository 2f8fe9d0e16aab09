// Measures latency at a fixed rate, of gslbd and of gdnsd: each alone, then both at the same
// instant on one core.
import { setTimeout as sleep } from 'node:timers/promises'
import { startInstalled } from './answer.bench.ts'
import { loadCore } from './servers/duel.ts'
import { fixed } from './report.ts'
import type { BenchContext, Figure, Report, Table } from './report.ts'
import { dnsperf } from './load/dnsperf.ts'
import type { DnsperfResult } from './load/dnsperf.ts'
import { cpuPerQuery, cpuTime } from './support/process-cpu.ts'
import { writeQueryFile } from './servers/servers.ts'
import type { RunningServer } from './servers/servers.ts'
import { median, medianInterval, percentile, range } from './support/statistics.ts'

const names = 10_000
const rate = 20_000
/** Pause after a load: latencies are read, their garbage is collected, cores are idle. */
const settleMs = 500
const percentiles = [50, 99, 99.9] as const

interface Sample {
  /** Milliseconds, by percentile. */
  readonly at: Readonly<Record<number, number>>
  readonly most: number
  readonly lost: number
  readonly rate: number
  readonly cpuMicros: number
}

export async function runLatency(context: BenchContext): Promise<Report> {
  const { isQuick, say } = context
  const queryFile = writeQueryFile(context.directory, names)
  const servers = await startInstalled(context, ['gslbd', 'gdnsd'])
  const [rounds, seconds] = isQuick ? [1, 2] : [24, 3]
  const [alone, together] = [new Map<string, Sample[]>(), new Map<string, Sample[]>()]
  try {
    for (const { port } of servers) await dnsperf({ port, queryFile, seconds: 2, core: loadCore })
    for (let round = 0; round < rounds; round++) {
      say(`${rate} queries/s, round ${round + 1} of ${rounds}`)
      // The first load has a moment alone, so servers take turns at being first.
      const order = round % 2 === 0 ? servers : servers.toReversed()
      for (const server of order) note(alone, await load([server], queryFile, seconds))
      if (servers.length > 1) note(together, await load(order, queryFile, seconds))
    }
  } finally {
    for (const server of servers) await server.stop()
  }
  const tables = [
    tableOf('each alone', alone),
    ...(together.size === 0 ? [missing] : [tableOf('both at the same instant', together)]),
  ]
  return { tables, figures: figuresOf(alone, together) }
}

const missing: Table = {
  title: `Latency at ${rate} queries/s, both at the same instant`,
  columns: ['server', ''],
  rows: [['gdnsd', 'not installed']],
  notes: [],
}

function note(samples: Map<string, Sample[]>, taken: readonly (readonly [string, Sample])[]): void {
  for (const [name, sample] of taken) samples.set(name, [...(samples.get(name) ?? []), sample])
}

async function load(
  servers: readonly RunningServer[],
  queryFile: string,
  seconds: number,
): Promise<(readonly [string, Sample])[]> {
  const before = servers.map(({ pid }) => cpuTime(pid))
  const loads: Promise<DnsperfResult>[] = []
  for (const { port } of servers) {
    loads.push(dnsperf({ port, queryFile, seconds, core: loadCore, rate, wantsLatencies: true }))
  }
  const results = await Promise.all(loads)
  const after = servers.map(({ pid }) => cpuTime(pid))
  await sleep(settleMs)
  return servers.map(({ name }, i) => {
    const { latencies, latencyMs, lost, queriesPerSecond, completed } = results[i]!
    const at = Object.fromEntries(percentiles.map((p) => [p, percentile(latencies, p)]))
    const cpu = cpuPerQuery(before[i]!, after[i]!, completed)
    const cpuMicros = cpu.totalMicros
    return [name, { at, most: latencyMs.most, lost, rate: queriesPerSecond, cpuMicros }]
  })
}

function tableOf(how: string, samples: ReadonlyMap<string, readonly Sample[]>): Table {
  const rows = [...samples].map(([name, taken]) => {
    const of = (pick: (sample: Sample) => number): number[] => taken.map(pick)
    const micros = (ms: number): string => fixed(ms * 1_000, 0)
    return [
      name,
      String(taken.length),
      ...percentiles.map((p) => micros(median(of((sample) => sample.at[p]!)))),
      range(
        of((sample) => sample.at[99]! * 1_000),
        0,
      ),
      micros(Math.max(...of((sample) => sample.most))),
      String(of((sample) => sample.lost).reduce((sum, lost) => sum + lost, 0)),
      fixed(median(of((sample) => sample.rate)), 0),
      fixed(median(of((sample) => sample.cpuMicros)), 1),
    ]
  })
  return {
    title: `Latency at ${rate} queries/s, ${how}`,
    columns: [
      'server',
      'n',
      ...percentiles.map((p) => `p${p} µs`),
      'p99 min-max',
      'worst µs',
      'lost',
      'queries/s',
      'CPU µs/query',
    ],
    rows,
    notes: [
      'seen by dnsperf, whose own thread has to wake up for each reply; medians of the rounds',
      ...(samples.size > 1 ? [ratioNote(samples)] : []),
    ],
  }
}

const p99s = (samples: ReadonlyMap<string, readonly Sample[]>, server: string): number[] =>
  (samples.get(server) ?? []).map((sample) => sample.at[99]!)

/** By round, since a disturbance of the machine affects both. */
const p99Ratios = (ours: readonly number[], theirs: readonly number[]): number[] =>
  ours.map((ms, round) => ms / theirs[round]!)

/** The remaining noise, in words. */
function ratioNote(samples: ReadonlyMap<string, readonly Sample[]>): string {
  const ratios = p99Ratios(p99s(samples, 'gslbd'), p99s(samples, 'gdnsd'))
  const [least, most] = medianInterval(ratios)
  const higher = ratios.filter((ratio) => ratio > 1).length
  return (
    `p99 of gslbd to that of gdnsd, round by round: median ${fixed(median(ratios), 3)}, ` +
    `95 % sure between ${fixed(least, 3)} and ${fixed(most, 3)}; higher in ${higher} of ${ratios.length} rounds`
  )
}

function figuresOf(
  alone: ReadonlyMap<string, readonly Sample[]>,
  together: ReadonlyMap<string, readonly Sample[]>,
): Record<string, Figure> {
  const figures: Record<string, Figure> = {}
  for (const [how, samples] of [
    ['alone', alone],
    ['pair', together],
  ] as const) {
    const ours = p99s(samples, 'gslbd')
    const theirs = p99s(samples, 'gdnsd')
    figures[`latency.${how}.p99`] = { value: median(ours), unit: 'ms', n: ours.length }
    if (theirs.length === 0) continue
    const ratios = p99Ratios(ours, theirs)
    figures[`latency.${how}.p99-ratio`] = { value: median(ratios), unit: 'ratio', n: ratios.length }
  }
  return figures
}
