// Measures the cost of the query log by sampling rate: in a responder's loop without sockets, and
// in a whole process that writes the log.
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { loadCore, serverCore } from './servers/duel.ts'
import { fixed } from './report.ts'
import type { BenchContext, Figure, Report, Table } from './report.ts'
import type { Allocated } from './measure/count-allocation.ts'
import { dnsperf } from './load/dnsperf.ts'
import { bundleFiles } from './data/encode-bundle.ts'
import { median } from './support/statistics.ts'
import { cpuPerQuery, cpuTime } from './support/process-cpu.ts'
import { ask, runForJson } from './servers/program.ts'
import type { Counted } from './servers/serve-bundle.ts'
import { startGslbd, writeQueryFile } from './servers/servers.ts'

const script = fileURLToPath(new URL('./measure/measure-query-log.ts', import.meta.url))
/** MiB of young generation: no collection happens before this much is allocated. */
const youngMib = 128

interface Share {
  readonly name: string
  /** 0: off. */
  readonly sampleEvery: number
}

const shares: readonly Share[] = [
  { name: 'off', sampleEvery: 0 },
  { name: 'on, one in 1,000,000', sampleEvery: 1_000_000 },
  { name: 'one in 100', sampleEvery: 100 },
  { name: 'all', sampleEvery: 1 },
]

export async function runQueryLog(context: BenchContext): Promise<Report> {
  const loops = await measureLoops(context)
  const whole = await measureWhole(context)
  return { tables: [loops.table, whole], figures: loops.figures }
}

async function measureLoops({
  isQuick,
  say,
}: BenchContext): Promise<{ table: Table; figures: Record<string, Figure> }> {
  const rounds = isQuick ? 1 : 5
  const queries = isQuick ? 100_000 : 1_000_000
  const young = [`--min-semi-space-size=${youngMib}`, `--max-semi-space-size=${youngMib}`]
  const measured = new Map<Share, Allocated[]>(shares.map((share) => [share, []]))
  for (let round = 0; round < rounds; round++) {
    say(`the loop of a responder without sockets, round ${round + 1} of ${rounds}`)
    for (const share of shares) {
      const args = [...young, script, String(share.sampleEvery), String(queries)]
      measured.get(share)!.push(await runForJson<Allocated>(args))
    }
  }
  const nanosOf = (share: Share): number =>
    median(measured.get(share)!.map(({ nanosEach }) => nanosEach))
  const bytesOf = (share: Share): number =>
    Math.min(...measured.get(share)!.map(({ bytes }) => bytes)) / queries
  const off = nanosOf(shares[0]!)
  const table: Table = {
    title:
      'The loop of a responder, from the octets of queries to those of replies, without sockets',
    columns: ['logged', 'n', 'CPU ns/query', 'times off', 'bytes/query'],
    rows: shares.map((share) => [
      share.name,
      String(queries * rounds),
      fixed(nanosOf(share), 0),
      fixed(nanosOf(share) / off, 2),
      fixed(bytesOf(share), 3),
    ]),
    notes: [
      'weighted, with a client subnet; each round in processes of their own, medians of the rounds',
      'bytes: growth of the V8 heap while nothing is collected; the reader of the ring is not in it',
    ],
  }
  const figures = {
    'query-log.allocation': { value: Math.max(...shares.map(bytesOf)), unit: 'B/query', n: rounds },
  }
  return { table, figures }
}

async function measureWhole({ isQuick, directory, say }: BenchContext): Promise<Table> {
  const names = 10_000
  const [rounds, seconds] = isQuick ? [1, 1] : [3, 4]
  const queryFile = writeQueryFile(directory, names)
  const { paths } = await bundleFiles(directory, 'query-log', { services: names, pools: names })
  const micros = new Map<Share, number[]>(shares.map((share) => [share, []]))
  const written = new Map<Share, number[]>(shares.map((share) => [share, []]))
  for (let round = 0; round < rounds; round++) {
    say(`a whole process that writes the log, round ${round + 1} of ${rounds}`)
    for (const share of shares) {
      const file = join(directory, `log-${round}-${share.sampleEvery}`)
      const { sampleEvery } = share
      const server = await startGslbd(paths, {
        core: serverCore,
        ...(sampleEvery === 0 ? {} : { queryLog: { file, sampleEvery } }),
      })
      try {
        const { port, program, pid } = server
        await dnsperf({ port, queryFile, seconds: 1, core: loadCore })
        const [counted, cpu] = [await ask<Counted>(program, 'counters'), cpuTime(pid)]
        await dnsperf({ port, queryFile, seconds, core: loadCore, rate: ratePerSecond })
        const [now, cpuNow] = [await ask<Counted>(program, 'counters'), cpuTime(pid)]
        const queries = now.queries - counted.queries
        micros.get(share)!.push(cpuPerQuery(cpu, cpuNow, queries).totalMicros)
        written.get(share)!.push((now.logged - counted.logged) / queries)
      } finally {
        await server.stop()
      }
    }
  }
  const off = median(micros.get(shares[0]!)!)
  return {
    title: `A whole process at ${ratePerSecond} queries/s: responder, writer of the log, file`,
    columns: ['logged', 'CPU µs/query', 'times off', 'records/query'],
    rows: shares.map((share) => [
      share.name,
      fixed(median(micros.get(share)!), 2),
      fixed(median(micros.get(share)!) / off, 2),
      fixed(median(written.get(share)!), 4),
    ]),
    notes: [`one UDP thread; ${rounds} rounds of ${seconds} s in turn, medians`],
  }
}

/** Less than one core can answer and log. */
const ratePerSecond = 20_000
