// Measures static records: CPU per query beside NSD at the same instant, the cost of importing and
// checking up to a million of them, and the start of such a zone beside NSD and Knot.
import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { load } from './answer.bench.ts'
import { fixed, mib } from './report.ts'
import type { BenchContext, Figure, Report, Table } from './report.ts'
import { dnsperf, ednsModes } from './load/dnsperf.ts'
import { cpuTime, processTree, residentBytes } from './support/process-cpu.ts'
import {
  recordsPerName,
  staticBundle,
  staticQuestions,
  staticZoneText,
  writeQuestions,
} from './data/static-zone.ts'
import { cells, duel, figureOf, loadCore, sampleColumns, serverCore } from './servers/duel.ts'
import { installProgram } from './servers/installed.ts'
import type { Installed } from './servers/installed.ts'
import { isServerInstalled, peers, startGslbd, startPeer } from './servers/servers.ts'
import type { RunningServer } from './servers/servers.ts'
import { range } from './support/statistics.ts'

const pairNames = 10_000
const clients = 8

export async function runRecords(context: BenchContext): Promise<Report> {
  const names = context.isQuick ? 25_000 : 250_000
  const growth = await runGrowth(context)
  const starts = await runStarts(context, names)
  const tables = [growth.table, starts]
  if (!isServerInstalled('nsd')) return { tables, figures: growth.figures }
  const { table, figures } = await runPairs(context)
  return { tables: [table, ...tables], figures: { ...growth.figures, ...figures } }
}

/** Names of the zone in the budget; each has four records. */
const budgetNames = 2_500

async function runGrowth({ isQuick, directory, say }: BenchContext) {
  const installed = await installProgram(join(directory, 'program'))
  // From the second run on, compiled code is in the cache.
  for (const args of commandsOn(join(directory, 'first'), 250)) costOf(installed, args)
  const rows: string[][] = []
  const figures: Record<string, Figure> = {}
  for (const names of isQuick ? [budgetNames] : [250, budgetNames, 25_000, 250_000]) {
    const records = names * recordsPerName
    for (const args of commandsOn(join(directory, `growth-${names}`), names)) {
      const [command] = args
      say(`${records} records: ${command}`)
      const { cpuMs, peakBytes } = costOf(installed, args)
      const each = fixed((cpuMs * 1_000) / records, 1)
      rows.push([command, String(records), fixed(cpuMs, 0), each, mib(peakBytes)])
      if (names !== budgetNames) continue
      figures[`records.${command}.${records}`] = { value: cpuMs, unit: 'ms', n: 1 }
    }
  }
  const table: Table = {
    title: 'A zone file becomes configuration, and the configuration is checked',
    columns: ['command', 'records', 'CPU ms', 'CPU µs per record', 'peak MiB'],
    rows,
    notes: [
      'user and system time of all threads, from the start of the program to its end',
      'the program is that of the packages, with the code that V8 has compiled in starts before',
    ],
  }
  return { table, figures }
}

type CommandLine = readonly [command: string, ...args: string[]]

/** Writes a zone file. @returns the commands that import and check it, in their order */
function commandsOn(home: string, names: number): readonly CommandLine[] {
  mkdirSync(home)
  const file = join(home, 'zone')
  writeFileSync(file, staticZoneText(names))
  const configuration = join(home, 'configuration')
  return [
    ['import', 'zone', file, '-o', configuration],
    ['check', configuration],
  ]
}

/** Tells the peak of memory and the CPU time of all threads. */
const reportPeak = import.meta.resolve('#test/support/report-peak.ts')

function costOf({ gslbd, env }: Installed, args: CommandLine) {
  const { stderr, status } = spawnSync(gslbd, args, {
    encoding: 'utf8',
    env: { ...process.env, ...env, NODE_OPTIONS: `--import ${reportPeak}` },
  })
  const said = /^peak (\d+) cpu (\d+)$/m.exec(stderr)
  if (status !== 0 || said === null) throw new Error(`gslbd ${args.join(' ')}: ${stderr}`)
  return { cpuMs: Number(said[2]), peakBytes: Number(said[1]) * 1_048_576 }
}

type Static = 'gslbd' | 'nsd' | 'knot'

async function startStatic(
  name: Static,
  directory: string,
  names: number,
): Promise<{ server: RunningServer; startMs: number }> {
  if (name === 'gslbd') {
    const path = await staticBundle(directory, names)
    const startedMs = performance.now()
    const server = await startGslbd([path], { core: serverCore })
    return { server, startMs: performance.now() - startedMs }
  }
  const peer = peers[name]
  const text = staticZoneText(names)
  const startedMs = performance.now()
  const options = { directory: `${directory}/${name}-${names}`, core: serverCore }
  const server = await startPeer(name, peer, options, (home, port) => ({
    ...peer.files(home, port, 1),
    'etc/zone': text,
  }))
  return { server, startMs: performance.now() - startedMs }
}

async function runPairs({ isQuick, directory, say }: BenchContext) {
  const { server: gslbd } = await startStatic('gslbd', directory, pairNames)
  const { server: nsd } = await startStatic('nsd', directory, pairNames)
  const rows: string[][] = []
  const figures: Record<string, Figure> = {}
  const run = { rounds: isQuick ? 2 : 8, seconds: isQuick ? 1 : 6 }
  try {
    for (const [kind, question] of Object.entries(staticQuestions)) {
      const queryFile = writeQuestions(directory, kind, pairNames, question)
      for (const { port } of [gslbd, nsd]) {
        await dnsperf({ port, queryFile, seconds: 2, core: loadCore })
      }
      say(`${kind}, ${run.rounds} rounds`)
      const taken = await duel([gslbd, nsd], run, (order, seconds) =>
        load(order, { queryFile, edns: ednsModes[1], clients, seconds }),
      )
      const found = (figures[`records.pair.${kind}`] = figureOf(taken))
      const ratio = [fixed(found.value, 3), range(taken.ratios, 3)]
      rows.push(['gslbd', kind, String(run.rounds), ...cells(taken.ours), ...ratio])
      rows.push(['nsd', kind, String(run.rounds), ...cells(taken.theirs), '1', ''])
    }
  } finally {
    await gslbd.stop()
    await nsd.stop()
  }
  return { table: pairTable(rows), figures }
}

function pairTable(rows: readonly string[][]): Table {
  return {
    title: 'CPU per query for static records, gslbd and NSD at the same instant on one core',
    columns: ['server', 'question', 'n', ...sampleColumns, 'ratio', 'ratio min-max'],
    rows,
    notes: [
      `${pairNames} names of ${recordsPerName} records, ${clients} client sockets, EDNS; 1 UDP thread`,
      'alias: the question is for A, the answer has the CNAME and the address it leads to',
      'the ratio is taken in each round; its median counts',
    ],
  }
}

async function runStarts({ directory, say }: BenchContext, names: number): Promise<Table> {
  const rows: string[][] = []
  for (const name of ['gslbd', 'nsd', 'knot'] as const) {
    if (!isServerInstalled(name)) continue
    say(`${names * recordsPerName} records: starting ${name}`)
    const { server, startMs } = await startStatic(name, directory, names)
    try {
      const cpuMs = cpuTime(server.pid).totalNs / 1e6
      const memory = processTree(server.pid).map(residentBytes)
      const now = memory.reduce((sum, one) => sum + one.now, 0)
      const peak = memory.reduce((sum, one) => sum + one.peak, 0)
      rows.push([name, fixed(startMs, 0), fixed(cpuMs, 0), mib(now), mib(peak)])
    } finally {
      await server.stop()
    }
  }
  return {
    title: `One zone of ${names * recordsPerName} records: from the start to the first answer`,
    columns: ['server', 'start ms', 'CPU ms', 'resident MiB', 'peak MiB'],
    rows,
    notes: [
      'gslbd starts from a bundle, as after a restart; NSD and Knot read a zone file',
      'CPU and memory of all processes of the server, pages that they share counted in each',
    ],
  }
}
