// Measures bundles of 10,000 and of a million services: encoding, loading, swapping, and the memory
// of a node.
import { fileURLToPath } from 'node:url'
import { setTimeout as sleep } from 'node:timers/promises'
import { fixed, mib } from './report.ts'
import type { BenchContext, Figure, Report } from './report.ts'
import { bundleFiles } from './data/encode-bundle.ts'
import type { BundleFiles } from './data/encode-bundle.ts'
import type { BundleResult } from './measure/measure-bundle.ts'
import { processTree, residentBytes } from './support/process-cpu.ts'
import { ask, runForJson } from './servers/program.ts'
import type { Swapped } from './servers/serve-bundle.ts'
import { startGslbd } from './servers/servers.ts'
import { median, range } from './support/statistics.ts'

const script = fileURLToPath(new URL('./measure/measure-bundle.ts', import.meta.url))
const threads = 2

const sizes = [
  { name: 'ten-thousand', services: 10_000, pools: 10_000, rules: 0, isLong: false },
  { name: 'rules', services: 10_000, pools: 5_000, rules: 100, isLong: false },
  { name: 'million', services: 1_000_000, pools: 10_000, rules: 0, isLong: false },
  {
    name: 'million-hundred-thousand-pools',
    services: 1_000_000,
    pools: 100_000,
    rules: 0,
    isLong: true,
  },
] as const
type Size = (typeof sizes)[number]
/** Rules of each pool, in each address family. */
const sizeNames = ['services', 'pools', 'rules'] as const

interface Served {
  readonly swaps: readonly Swapped[]
  readonly firstBytes: number
  /** Some time after the last swap. */
  readonly settledBytes: number
  readonly peakBytes: number
}

export async function runBundle(context: BenchContext): Promise<Report> {
  const { isQuick, directory, say } = context
  const [loadRows, swapRows]: [string[][], string[][]] = [[], []]
  const figures: Record<string, Figure> = {}
  for (const size of sizes) {
    if (isQuick && size.isLong) continue
    say(`${size.services} services over ${size.pools} pools: encoding`)
    const files = await bundleFiles(directory, size.name, size)
    const runs: BundleResult[] = []
    for (let run = 0; run < (isQuick ? 1 : 5); run++) {
      say(`${size.services} services over ${size.pools} pools: loading, run ${run + 1}`)
      runs.push(await runForJson<BundleResult>([script, files.paths[0]]))
    }
    say(`${size.services} services over ${size.pools} pools: swapping`)
    const served = await serve(files, isQuick ? 2 : 10)
    loadRows.push(loadRow(size, files, runs))
    swapRows.push(swapRow(size, served))
    const load = runs.map(({ loadMs }) => loadMs)
    const pauses = served.swaps.map(({ pauseMicros }) => pauseMicros / 1_000)
    const figure = (value: number, n: number) => ({ value, unit: 'ms', n })
    figures[`bundle.${size.name}.load`] = figure(median(load), load.length)
    // Each thread frees an old bundle only when it collects garbage: this shows whether it does.
    const keptBundles = (served.settledBytes - served.firstBytes) / files.fileBytes
    figures[`bundle.${size.name}.kept`] = { value: keptBundles, unit: 'bundles', n: 1 }
    figures[`bundle.${size.name}.pause`] = figure(Math.max(...pauses), pauses.length)
  }
  return { tables: [loadTable(loadRows), swapTable(swapRows)], figures }
}

async function serve({ paths }: BundleFiles, swaps: number): Promise<Served> {
  const server = await startGslbd(paths, { threads })
  try {
    const swapped: Swapped[] = []
    for (let i = 0; i < swaps; i++) swapped.push(await ask<Swapped>(server.program, 'swap'))
    await sleep(2_000)
    const memory = processTree(server.pid).map(residentBytes)
    return {
      swaps: swapped,
      firstBytes: server.residentBytes,
      settledBytes: memory.reduce((sum, { now }) => sum + now, 0),
      peakBytes: memory.reduce((sum, { peak }) => sum + peak, 0),
    }
  } finally {
    await server.stop()
  }
}

function sizeCells({ services, pools, rules }: Size): string[] {
  return [String(services), String(pools), String(rules)]
}

function loadRow(size: Size, files: BundleFiles, runs: readonly BundleResult[]): string[] {
  const of = (pick: (run: BundleResult) => number): string => fixed(median(runs.map(pick)), 0)
  return [
    ...sizeCells(size),
    mib(files.fileBytes),
    fixed(files.encodeMs, 0),
    String(runs.length),
    of(({ readMs }) => readMs),
    of(({ loadMs }) => loadMs),
    range(
      runs.map(({ loadMs }) => loadMs),
      0,
    ),
    of(({ stateMs }) => stateMs),
    of(({ carryMs }) => carryMs),
    mib(runs[0]!.stateBytes),
    mib(Math.max(...runs.map((run) => run.residentBytes))),
    mib(files.peakBytes),
  ]
}

function loadTable(rows: readonly string[][]) {
  const names = [...sizeNames, 'file MiB', 'encode ms', 'n', 'read ms', 'load ms']
  const more = [
    'load min-max',
    'state ms',
    'carry ms',
    'state MiB',
    'memory MiB',
    'encoder peak MiB',
  ]
  return {
    title: 'A bundle: encoded, loaded, made ready',
    columns: [...names, ...more],
    rows,
    notes: [
      'load: signature, every digest, every check; state: the candidate lists of all pools',
      'memory: of a process that has loaded it and made the state, with the file in memory; four members a pool',
    ],
  }
}

function swapRow(size: Size, served: Served): string[] {
  const activations = served.swaps.map(({ activateMs }) => activateMs)
  const pauses = served.swaps.map(({ pauseMicros }) => pauseMicros)
  return [
    ...sizeCells(size),
    String(served.swaps.length),
    fixed(median(activations), 0),
    range(activations, 0),
    fixed(median(pauses), 0),
    range(pauses, 0),
    mib(served.firstBytes),
    mib(served.settledBytes),
    mib(served.peakBytes),
  ]
}

function swapTable(rows: readonly string[][]) {
  const names = ['n', 'activate ms', 'activate min-max', 'pause µs', 'pause min-max']
  return {
    title: `A swap on a node with ${threads} responder threads`,
    columns: [...sizeNames, ...names, 'first MiB', 'after MiB', 'peak MiB'],
    rows,
    notes: [
      'activate: from the publication in memory to the last thread that answers from it',
      'pause: how long a responder does not answer for it; the worse of the two threads',
      'idle threads are woken for a new bundle by a signal, and look by themselves every 100 ms',
      'memory of the whole process: with the first bundle, 2 s after the last swap, and at its peak',
    ],
  }
}
