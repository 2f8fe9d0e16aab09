// Measures compiling generated configurations: cold, and after a change of one file.
import { fileURLToPath } from 'node:url'
import { fixed, mib } from './report.ts'
import type { BenchContext, Figure, Report } from './report.ts'
import type { CompileResult } from './measure/measure-compile.ts'
import { runForJson } from './servers/program.ts'
import { median, range } from './support/statistics.ts'

const script = fileURLToPath(new URL('./measure/measure-compile.ts', import.meta.url))
const sizes = [
  { services: 100, runs: 5, isLong: false },
  { services: 10_000, runs: 3, isLong: false },
  { services: 100_000, runs: 1, isLong: true },
] as const

export async function runCompile({ isQuick, say }: BenchContext): Promise<Report> {
  const rows: string[][] = []
  const figures: Record<string, Figure> = {}
  for (const { services, runs, isLong } of sizes) {
    if (isQuick && isLong) continue
    const results: CompileResult[] = []
    for (let run = 0; run < (isQuick ? 1 : runs); run++) {
      say(`${services} services, run ${run + 1}`)
      const args = ['--max-old-space-size=12000', script, String(services)]
      results.push(await runForJson<CompileResult>(args))
    }
    const cold = results.map(({ coldMs }) => coldMs)
    const changed = results.flatMap(({ changedMs }) => changedMs)
    const { files, inputBytes, bundleBytes } = results[0]!
    rows.push([
      String(services),
      String(files),
      fixed(inputBytes / 1_048_576, 1),
      String(cold.length),
      fixed(median(cold), 0),
      range(cold, 0),
      String(changed.length),
      fixed(median(changed), 0),
      range(changed, 0),
      fixed(bundleBytes / 1_048_576, 1),
      mib(Math.max(...results.map(({ peakBytes }) => peakBytes))),
    ])
    figures[`compile.${services}.cold`] = { value: median(cold), unit: 'ms', n: cold.length }
    figures[`compile.${services}.one-file`] = {
      value: median(changed),
      unit: 'ms',
      n: changed.length,
    }
  }
  const columns = [
    'services',
    'files',
    'input MiB',
    'n',
    'cold ms',
    'cold min-max',
    'n',
    'one file ms',
  ]
  return {
    tables: [
      {
        title: 'Compiling files in memory to a checked bundle',
        columns: [...columns, 'one file min-max', 'bundle MiB', 'peak memory MiB'],
        rows,
        notes: [
          'cold: a fresh process with the files in memory, until the bundle has passed the loader',
          'one file: one pool has another address; the other files are known by their blob ids',
          'a pool of four members for every ten services; no time per phase, the compiler does not tell',
        ],
      },
    ],
    figures,
  }
}
