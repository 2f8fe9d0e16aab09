// Measures the gain of a second responder thread: with sockets, where the load shares the cores,
// and without.
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { once } from 'node:events'
import { fixed } from './report.ts'
import type { BenchContext, Figure, Report, Table } from './report.ts'
import { benchGeneration } from './data/answer-mix.ts'
import type { ThreadStart } from './measure/answer-thread.ts'
import { dnsperf } from './load/dnsperf.ts'
import { bundleFiles } from './data/encode-bundle.ts'
import { cpuPerQuery, cpuTime } from './support/process-cpu.ts'
import { startGslbd, writeQueryFile } from './servers/servers.ts'
import { median, range } from './support/statistics.ts'

const names = 10_000
const counts = [1, 2] as const
const script = fileURLToPath(new URL('./measure/answer-thread.ts', import.meta.url))

export async function runThreads(context: BenchContext): Promise<Report> {
  const loaded = await withSockets(context)
  const { table, figures } = await withoutSockets(context)
  return { tables: [loaded, table], figures }
}

async function withSockets({ isQuick, directory, say }: BenchContext): Promise<Table> {
  const [rounds, seconds] = isQuick ? [1, 1] : [5, 6]
  const queryFile = writeQueryFile(directory, names)
  const { paths } = await bundleFiles(directory, 'threads', { services: names, pools: names })
  const rows: string[][] = []
  for (const threads of counts) {
    const server = await startGslbd(paths, { threads })
    try {
      // Many sockets, so that the kernel divides them among the threads.
      const run = { port: server.port, queryFile, clients: 32, threads: 2 }
      await dnsperf({ ...run, seconds: 2 })
      const [rates, cores, perCpuSecond]: number[][] = [[], [], []]
      for (let round = 0; round < rounds; round++) {
        say(`${threads} threads, round ${round + 1} of ${rounds}`)
        const before = cpuTime(server.pid)
        const { completed, queriesPerSecond } = await dnsperf({ ...run, seconds })
        const { totalMicros } = cpuPerQuery(before, cpuTime(server.pid), completed)
        rates!.push(queriesPerSecond)
        cores!.push((totalMicros * queriesPerSecond) / 1e6)
        perCpuSecond!.push(1e6 / totalMicros)
      }
      rows.push([
        String(threads),
        String(rounds),
        fixed(median(rates!), 0),
        range(rates!, 0),
        fixed(median(cores!), 2),
        fixed(median(perCpuSecond!), 0),
      ])
    } finally {
      await server.stop()
    }
  }
  return {
    title: 'Throughput with 1 and 2 responder threads, server and load on the same two cores',
    columns: ['threads', 'n', 'queries/s', 'min-max', 'cores used', 'queries/CPU second'],
    rows,
    notes: [
      'the load needs as much CPU as the server, so two cores cannot show twice the throughput',
    ],
  }
}

async function withoutSockets({ isQuick, say }: BenchContext): Promise<{
  table: Table
  figures: Record<string, Figure>
}> {
  const [rounds, durationMs] = isQuick ? [1, 500] : [5, 3_000]
  const rates = new Map<number, number[]>()
  for (let round = 0; round < rounds; round++) {
    for (const threads of counts) {
      say(`${threads} threads without sockets, round ${round + 1} of ${rounds}`)
      rates.set(threads, [
        ...(rates.get(threads) ?? []),
        await answersPerSecond(threads, durationMs),
      ])
    }
  }
  const ratios = rates.get(2)!.map((rate, round) => rate / rates.get(1)![round]!)
  const rows = counts.map((threads) => [
    String(threads),
    String(rounds),
    fixed(median(rates.get(threads)!), 0),
    range(rates.get(threads)!, 0),
    threads === 1 ? '1' : fixed(median(ratios), 2),
  ])
  const table = {
    title: 'The answer path alone in 1 and 2 threads, over the same bundle, state and cursors',
    columns: ['threads', 'n', 'answers/s', 'min-max', 'ratio'],
    rows,
    notes: [
      'all kinds of questions in turn; the ratio says whether threads stand in each other’s way',
    ],
  }
  // Budgets are upper bounds, so the figure is one thread's share of the work of two.
  const value = 1 / median(ratios)
  return { table, figures: { 'threads.share-of-one': { value, unit: 'ratio', n: rounds } } }
}

async function answersPerSecond(threads: number, durationMs: number): Promise<number> {
  const generation = benchGeneration()
  const workers = Array.from({ length: threads }, (_, i) => {
    const workerData: ThreadStart = { generation, seed: i + 1, durationMs }
    return new Worker(script, { workerData })
  })
  await Promise.all(workers.map((worker) => once(worker, 'message')))
  // All are warm, so they start together.
  for (const worker of workers) worker.postMessage('go')
  const done = await Promise.all(workers.map((worker) => once(worker, 'message')))
  await Promise.all(workers.map((worker) => worker.terminate()))
  return done.reduce((sum, [rate]) => sum + (rate as number), 0)
}
