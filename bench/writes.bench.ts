// Measures writes to a big repository: from a typed operation to a commit on disk that is served.
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { fixed } from './report.ts'
import type { BenchContext, Figure, Report } from './report.ts'
import type { WriteRun } from './measure/measure-writes.ts'
import { startApiDaemon, systemKey, whatItSaid } from './servers/api-daemon.ts'
import { cpuPerQuery, cpuTime } from './support/process-cpu.ts'
import { runForJson } from './servers/program.ts'
import type { WriteLoad, WriteLoadRun, WriteVerb } from './load/write-load.ts'

const script = fileURLToPath(new URL('./measure/measure-writes.ts', import.meta.url))
const client = fileURLToPath(new URL('./load/write-load.ts', import.meta.url))
const pools = 10_000
/** Renamed pools come last: the other runs find pools by name. */
const order = '1,1:create,1:delete,16,64,256,1:rename'

const whats: Readonly<Record<string, string>> = {
  update: 'changes a pool',
  create: 'makes a service',
  delete: 'deletes a service',
  rename: 'renames a pool',
  effect: 'changes a pool, and asks for its effect',
  member: 'adds a member',
  'new-pool': 'makes a pool',
  'delete-pool': 'deletes a pool',
}

export async function runWrites(context: BenchContext): Promise<Report> {
  const typed = await runTyped(context)
  const overHttp = await runOverHttp(context)
  return {
    tables: [...typed.tables, ...overHttp.tables],
    figures: { ...typed.figures, ...overHttp.figures },
  }
}

const secondsOf = (isQuick: boolean): number => (isQuick ? 2 : 15)

async function runTyped({ isQuick, directory, say }: BenchContext): Promise<Report> {
  const seconds = secondsOf(isQuick)
  say(`${pools} pools, ${seconds} s for each number of clients`)
  const dataDir = join(directory, 'data')
  const args = [script, dataDir, String(pools), String(seconds), order]
  const runs = await runForJson<WriteRun[]>(args)
  const figures: Record<string, Figure> = {}
  for (const { verb, clients, writes, perSecond, p99Ms } of runs) {
    const name = verb === 'update' ? `writes.${clients}` : `writes.${verb}`
    figures[`${name}.per-write`] = { value: 1_000 / perSecond, unit: 'ms', n: writes }
    figures[`${name}.p99`] = { value: p99Ms, unit: 'ms', n: writes }
  }
  return {
    tables: [
      {
        title: `Writes to ${pools} pools and as many services, local origin`,
        columns: [
          'clients',
          'each',
          'writes/s',
          'p50 ms',
          'p99 ms',
          'worst ms',
          'writes',
          'commits',
          'CPU ms/write',
        ],
        rows: runs.map((run) => [
          String(run.clients),
          whats[run.verb] ?? run.verb,
          fixed(run.perSecond, 0),
          fixed(run.p50Ms, 0),
          fixed(run.p99Ms, 0),
          fixed(run.worstMs, 0),
          String(run.writes),
          String(run.commits),
          fixed(run.cpuMsPerWrite, 1),
        ]),
        notes: [
          'a write is answered when its commit is flushed, compiled, signed, and active on a node with one responder',
          'each is about another object; a client sends its next write when it has the answer',
          'the worst of the first row is the first write of the process: its code is not compiled yet',
          'per-write of the figures is the time between two answers, all clients together',
        ],
      },
    ],
    figures,
  }
}

/** Writes of one load; more would overwrite values of the next load. */
const writesMax = 3_000

const overHttp: readonly (readonly [clients: number, verb: WriteVerb])[] = [
  [1, 'update'],
  [1, 'effect'],
  [1, 'create'],
  [1, 'delete'],
  [1, 'member'],
  [1, 'new-pool'],
  [1, 'delete-pool'],
  [1, 'rename'],
  [64, 'update'],
]

async function runOverHttp({ isQuick, directory, say }: BenchContext): Promise<Report> {
  const home = join(directory, 'daemon')
  const { program, apiPort } = await startApiDaemon(home, { pools })
  const figures: Record<string, Figure> = {}
  const rows: string[][] = []
  const seconds = secondsOf(isQuick)
  const with1 = { apiPort, bearer: systemKey, clients: 1, seconds }
  try {
    // The first load compiles the code and waits for the database.
    const warmUp: WriteLoad = { ...with1, verb: 'update', seconds: 5, first: 0 }
    await runForJson([client, JSON.stringify(warmUp)])
    for (const [row, [clients, verb]] of overHttp.entries()) {
      const load: WriteLoad = { ...with1, verb, clients, first: (row + 1) * writesMax }
      const before = cpuTime(program.pid)
      const run = await runForJson<WriteLoadRun>([client, JSON.stringify(load)])
      const { totalMicros } = cpuPerQuery(before, cpuTime(program.pid), run.writes)
      const perSecond = run.writes / run.seconds
      const name = verb === 'update' ? `writes.http.${clients}` : `writes.http.${verb}`
      figures[`${name}.per-write`] = { value: 1_000 / perSecond, unit: 'ms', n: run.writes }
      figures[`${name}.p99`] = { value: run.p99Ms, unit: 'ms', n: run.writes }
      const milliseconds = [run.p50Ms, run.p99Ms, run.worstMs].map((ms) => fixed(ms, 0))
      const counts = [String(run.writes), fixed(totalMicros / 1_000, 1)]
      rows.push([String(clients), whats[verb]!, fixed(perSecond, 0), ...milliseconds, ...counts])
      say(`${clients} over HTTP, each ${whats[verb]!}: ${fixed(perSecond, 0)}/s`)
    }
  } catch (error) {
    throw whatItSaid(program, error)
  } finally {
    await program.stop()
  }
  const columns = ['clients', 'each', 'writes/s', 'p50 ms', 'p99 ms', 'worst ms', 'writes']
  const title = `The same through the API of a daemon with ${pools} pools and as many services`
  const notes = [
    'the daemon and its clients share the cores; each request has a connection of its own',
    'not counted: the first 5 s, with the first write (0.3 s) and one that waits for the embedded database, made once in the life of a node (2.5 s)',
    'CPU: all threads of the daemon, kernel time included',
  ]
  return { tables: [{ title, columns: [...columns, 'CPU ms/write'], rows, notes }], figures }
}
