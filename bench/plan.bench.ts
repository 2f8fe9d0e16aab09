// Measures planning a change: `gslbd plan` of two directories and of two bundle files, with the
// table of the whole world.
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { fixed } from './report.ts'
import type { BenchContext, Figure, Report } from './report.ts'
import { planFiles } from './data/plan-files.ts'
import { commandFlags, startProgram } from './servers/program.ts'
import { median } from './support/statistics.ts'

const main = fileURLToPath(import.meta.resolve('#cli/main.ts'))
const reportPeak = import.meta.resolve('#test/support/report-peak.ts')
const services = 10_000
const changed = 100
const runs = 5

interface Planned {
  readonly seconds: number
  readonly cpuSeconds: number
  readonly peakMb: number
}

export async function runPlan({ isQuick, directory, say }: BenchContext): Promise<Report> {
  const geoip = createRequire(import.meta.url).resolve(
    '@ip-location-db/geo-whois-asn-country-mmdb/geo-whois-asn-country.mmdb',
  )
  const [base, head] = ['base', 'head'].map((name) => join(directory, name)) as [string, string]
  say(`${services} services, ${changed} of them changed`)
  write(base, planFiles(services, 0))
  cpSync(base, head, { recursive: true })
  write(head, planFiles(services, changed))
  const bundles = [base, head].map((one) => compiled(one)) as [string, string]
  // As in bin/gslbd: compiled code is cached.
  const env = { NODE_COMPILE_CACHE: join(directory, 'code') }
  await planned([head, '--base', `${base}/`, '--geoip', geoip], env)
  const rows: string[][] = []
  const figures: Record<string, Figure> = {}
  for (const [what, from, to] of [
    ['directories', [`${base}/`], [head]],
    ['bundles', [bundles[0]], [head, '--head', bundles[1]]],
  ] as const) {
    const plans: Planned[] = []
    for (let run = 0; run < (isQuick ? 1 : runs); run++) {
      plans.push(await planned([...to, '--base', ...from, '--geoip', geoip], env))
    }
    const of = (pick: (plan: Planned) => number): number => median(plans.map(pick))
    const peakMb = Math.max(...plans.map((plan) => plan.peakMb))
    const seconds = of((plan) => plan.seconds)
    const cpuSeconds = of((plan) => plan.cpuSeconds)
    say(`two ${what}: ${fixed(seconds, 1)} s, ${fixed(cpuSeconds, 1)} s of CPU, ${peakMb} MB`)
    rows.push([
      ...[`two ${what}`, String(plans.length), fixed(seconds, 1), fixed(cpuSeconds, 1)],
      String(peakMb),
    ])
    const n = plans.length
    figures[`plan.${what}.time`] = { value: seconds * 1_000, unit: 'ms', n }
    figures[`plan.${what}.cpu`] = { value: cpuSeconds * 1_000, unit: 'ms', n }
    figures[`plan.${what}.memory`] = { value: peakMb, unit: 'MB', n }
  }
  const title = `gslbd plan of ${services} services, ${changed} of them changed`
  const columns = ['of', 'n', 'time s', 'CPU s', 'memory at most MB']
  const notes = [
    'the whole command, from its start to its last line, with the table of the world',
    'it has run before: bin/gslbd keeps compiled code',
    'services go by six ways, two of them by country and two sticky; medians, memory the most of all',
  ]
  return { tables: [{ title, columns, rows, notes }], figures }
}

function write(
  directory: string,
  files: Iterable<{ readonly path: string; readonly text: string }>,
): void {
  for (const { path, text } of files) {
    const file = join(directory, path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
  }
}

/** @returns the path of the bundle */
function compiled(directory: string): string {
  const file = `${directory}.bundle`
  execFileSync(process.execPath, [...commandFlags, main, 'compile', directory, '--output', file])
  return file
}

async function planned(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<Planned> {
  const startedMs = performance.now()
  const argv = [...commandFlags, '--import', reportPeak, main, 'plan', ...args, '--format', 'json']
  const program = startProgram(process.execPath, argv, { env })
  const code = await program.ended
  const seconds = (performance.now() - startedMs) / 1_000
  const said = /^peak (\d+) cpu (\d+)$/m.exec(program.errors())
  if (code !== 0 || said === null) throw new Error(`plan ended (${code}): ${program.errors()}`)
  const plan = JSON.parse(program.output()) as { readonly summary: { readonly names: number } }
  if (plan.summary.names !== changed) throw new Error(`${plan.summary.names} names differ`)
  return { seconds, cpuSeconds: Number(said[2]) / 1_000, peakMb: Number(said[1]) }
}
