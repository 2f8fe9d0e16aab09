// Measures the cost of choosing a member: CPU time above round robin and allocations, by algorithm
// and filter; then gslbd beside its peers on one map.
import { fileURLToPath } from 'node:url'
import { fixed } from './report.ts'
import type { BenchContext, Figure, Report, Table } from './report.ts'
import { clientModes } from './measure/client-loop.ts'
import { measureGeoPair } from './servers/geo-pair.ts'
import type { MeasuredKind, RoutingResult } from './measure/measure-routing.ts'
import type { ScriptResult } from './measure/measure-scripts.ts'
import { runForJson } from './servers/program.ts'

const program = (name: string): string => fileURLToPath(new URL(name, import.meta.url))
/** MiB of young generation: no collection happens before this much is allocated. */
const youngMib = 128

export async function runRouting(context: BenchContext): Promise<Report> {
  const { isQuick, say } = context
  say('the answer path without sockets, by algorithm and filter')
  const quick = isQuick ? ['--quick'] : []
  const young = [`--min-semi-space-size=${youngMib}`, `--max-semi-space-size=${youngMib}`]
  const result = await runForJson<RoutingResult>([
    ...young,
    program('./measure/measure-routing.ts'),
    ...quick,
  ])
  say('script steps, with the threads that run them')
  const scripts = await runForJson<ScriptResult>([
    program('./measure/measure-scripts.ts'),
    ...quick,
  ])
  const pair = await measureGeoPair(context)
  const figures = { ...costFigures(result), ...scriptFigures(scripts), ...pair.figures }
  return { tables: [...pair.tables, costTable(result), scriptTable(scripts)], figures }
}

function costTable({ kinds, rounds, operations, rows }: RoutingResult): Table {
  const cell = ({ modes }: MeasuredKind): string[] =>
    clientModes.map((mode) => fixed(modes[mode].nanosAbove / 1_000, 2))
  const bytes = ({ modes }: MeasuredKind): number =>
    Math.max(...clientModes.map((mode) => modes[mode].bytesEach))
  const counts = Object.entries(rows).map(([name, count]) => `${name} ${count}`)
  return {
    title: 'Choosing one of four members: user µs per query above plain round robin',
    columns: ['', 'IPv4', 'IPv6', 'ECS IPv4', 'ECS IPv6', 'bytes/query'],
    rows: kinds.map((kind) => [kind.name, ...cell(kind), fixed(bytes(kind), 3)]),
    notes: [
      `${rounds} rounds of ${operations} queries each, each from another client; no sockets`,
      'the difference to round robin is taken in each round, just before; its median counts',
      'IPv4 clients are any addresses, IPv6 clients are in networks in use; ECS of /24 and /56',
      `ranges: ${counts.join(', ')}`,
    ],
  }
}

function costFigures({ kinds, rounds }: RoutingResult): Record<string, Figure> {
  const figures: Record<string, Figure> = {}
  const all = kinds.flatMap(({ modes }) => clientModes.map((mode) => modes[mode].bytesEach))
  figures['routing.allocation'] = { value: Math.max(...all), unit: 'B/query', n: all.length }
  for (const name of new Set(kinds.flatMap(({ budget }) => budget ?? []))) {
    const above = kinds
      .filter(({ budget }) => budget === name)
      .flatMap(({ modes }) => clientModes.map((mode) => modes[mode].nanosAbove / 1_000))
    figures[`routing.${name}`] = { value: Math.max(...above), unit: 'µs', n: rounds }
  }
  return figures
}

function scriptTable({ scripts, rounds, operations }: ScriptResult): Table {
  return {
    title: 'Script steps: µs per query of one of four members',
    columns: ['', 'time', 'CPU', 'of its own', 'of the helper', 'runs that came through'],
    rows: scripts.map(({ name, wallMicros, ownMicros, helperMicros, done }) => [
      name,
      fixed(wallMicros, 0),
      fixed(ownMicros + helperMicros, 0),
      fixed(ownMicros, 0),
      fixed(helperMicros, 0),
      `${fixed(done * 100, 2)} %`,
    ]),
    notes: [
      `${rounds} rounds of ${operations} queries each, each from another IPv4 client; no sockets`,
      'the thread that answers asks a helper and waits for it: time is of the clock on the wall',
      'cost of runs that came through, in chunks of 20; the others were cut off by a busy machine',
      'not in the budget of the other steps: no two threads talk in 1.5 µs',
    ],
  }
}

function scriptFigures({ scripts, rounds }: ScriptResult): Record<string, Figure> {
  const most = Math.max(...scripts.map(({ ownMicros, helperMicros }) => ownMicros + helperMicros))
  return { 'routing.script': { value: most, unit: 'µs', n: rounds } }
}
