// Runs benchmarks by name, prints their tables, keeps the results, checks budgets, updates the
// documentation.
// node bench/main.ts [NAME…] [--quick] [--check] [--write-docs] [--rate N] [--queries N]
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { didYouMean } from '#lib/suggest.ts'
import { budgetLines, judge, readBudgets } from './budget.ts'
import type { BenchContext, Benchmark, Figure, Report } from './report.ts'
import { writeResults } from './results-page.ts'
import { describeMachine, machineLines } from './support/machine.ts'
import { plainTable } from './support/print-table.ts'
import { benchmarks } from './table.ts'

const usage = `Usage: node bench/main.ts [NAME…] [--quick] [--check] [--write-docs]

  --quick       short runs: shows that everything works, not how fast
  --check       ends with 1 when a figure is over its budget (bench/budget.json)
  --write-docs  puts the tables of this run into docs/benchmarks.md
  --rate N      queries a second, and
  --queries N   how many of them, for replace

Benchmarks (all, when none is named):
${benchmarks.map(({ name, summary }) => `  ${name.padEnd(12)}  ${summary}`).join('\n')}
`
const resultsDirectory = join(import.meta.dirname, 'results')

const { values: flags, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: 'boolean', default: false },
    check: { type: 'boolean', default: false },
    'write-docs': { type: 'boolean', default: false },
    rate: { type: 'string' },
    queries: { type: 'string' },
    help: { type: 'boolean', short: 'h', default: false },
  },
})

if (flags.help) {
  process.stdout.write(usage)
} else {
  const chosen = choose(positionals)
  process.exitCode = chosen === undefined ? 2 : await runAll(chosen)
  process.exit()
}

function choose(wanted: readonly string[]): readonly Benchmark[] | undefined {
  const names = benchmarks.map(({ name }) => name)
  const unknown = wanted.find((name) => !names.includes(name))
  if (unknown !== undefined) {
    const hint = didYouMean(unknown, names)
    process.stderr.write(`there is no benchmark "${unknown}"${hint}\n\n${usage}`)
    return undefined
  }
  return benchmarks.filter(({ name }) => wanted.length === 0 || wanted.includes(name))
}

async function runAll(chosen: readonly Benchmark[]): Promise<number> {
  const machine = describeMachine()
  const kind = flags.quick ? ['QUICK RUN: the numbers below are not results'] : []
  const heading = [...machineLines(machine), ...kind]
  process.stdout.write(`${heading.join('\n')}\n\n`)
  const figures: Record<string, Figure> = {}
  const failed: string[] = []
  mkdirSync(resultsDirectory, { recursive: true })
  for (const benchmark of chosen) {
    const startedMs = performance.now()
    const report = await runOne(benchmark)
    if (report === undefined) {
      failed.push(benchmark.name)
      continue
    }
    Object.assign(figures, report.figures)
    for (const table of report.tables) process.stdout.write(`${plainTable(table)}\n`)
    const tookSeconds = Math.round((performance.now() - startedMs) / 1_000)
    const result = {
      date: new Date().toISOString(),
      isQuick: flags.quick,
      tookSeconds,
      machine,
      ...report,
    }
    const file = join(resultsDirectory, `${benchmark.name}.json`)
    writeFileSync(file, `${JSON.stringify(result, null, 2)}\n`)
    if (flags['write-docs']) writeResults(benchmark.name, heading, report.tables)
  }
  const verdicts = judge(figures, readBudgets())
  process.stdout.write(budgetLines(verdicts))
  if (failed.length > 0) process.stderr.write(`failed: ${failed.join(', ')}\n`)
  const isOver = verdicts.some(({ verdict, budget }) => verdict === 'over' && budget.isChecked)
  return failed.length > 0 || (flags.check && isOver) ? 1 : 0
}

async function runOne({ name, run }: Benchmark): Promise<Report | undefined> {
  const directory = mkdtempSync(join(tmpdir(), 'gslbd-bench-'))
  const remove = (): void => rmSync(directory, { recursive: true, force: true, maxRetries: 3 })
  process.once('exit', remove)
  const say = (line: string): void => void process.stderr.write(`${name}: ${line}\n`)
  try {
    return await run({ isQuick: flags.quick, directory, load: loadOf(flags), say })
  } catch (error) {
    process.stderr.write(`${name}: ${error instanceof Error ? error.stack : String(error)}\n`)
    return undefined
  } finally {
    process.off('exit', remove)
    remove()
  }
}

function loadOf(given: { rate?: string | undefined; queries?: string | undefined }) {
  const wanted = Object.entries({ rate: given.rate, queries: given.queries })
  const numbers = wanted.flatMap(([name, text]) => {
    if (text === undefined) return []
    if (!/^[1-9][0-9]*$/.test(text)) throw new Error(`--${name} is a number from 1, not "${text}"`)
    return [[name, Number(text)]]
  })
  return Object.fromEntries(numbers) as BenchContext['load']
}
