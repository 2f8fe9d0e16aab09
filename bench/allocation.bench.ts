// Measures heap allocation per query: in our own code, in the batch calls, and as collections under
// load.
import { fileURLToPath } from 'node:url'
import { loadCore, serverCore } from './servers/duel.ts'
import { fixed } from './report.ts'
import type { BenchContext, Figure, Report, Table } from './report.ts'
import { dnsperf } from './load/dnsperf.ts'
import { bundleFiles } from './data/encode-bundle.ts'
import type { AllocationResult } from './measure/measure-allocation.ts'
import { ask, runForJson } from './servers/program.ts'
import type { Counted } from './servers/serve-bundle.ts'
import { startGslbd, writeQueryFile } from './servers/servers.ts'

const script = fileURLToPath(new URL('./measure/measure-allocation.ts', import.meta.url))
/** MiB of young generation: no collection happens before this much is allocated. */
const youngMib = 128

export async function runAllocation(context: BenchContext): Promise<Report> {
  const { isQuick, say } = context
  say('the answer path and the batch calls, without traffic')
  const young = [`--min-semi-space-size=${youngMib}`, `--max-semi-space-size=${youngMib}`]
  const args = [...young, script, ...(isQuick ? ['--quick'] : [])]
  const result = await runForJson<AllocationResult>(args)
  const perQuery = result.answers.map(({ bytes, operations }) => bytes / operations)
  const perPacket = result.batches.map((b) => b.bytes / b.operations / b.size)
  const n = result.answers.reduce((sum, { operations }) => sum + operations, 0)
  const collections = await collectionsUnderLoad(context)
  const figures: Record<string, Figure> = {
    'allocation.answer': { value: Math.max(...perQuery), unit: 'B/query', n },
    'allocation.batch': { value: Math.max(...perPacket), unit: 'B/packet', n },
  }
  return { tables: [answerTable(result), batchTable(result), collections], figures }
}

function answerTable({ control, answers }: AllocationResult): Table {
  return {
    title: 'Allocated by the answer path, from the octets of the query to those of the reply',
    columns: ['query', 'n', 'bytes in all', 'bytes/query', 'CPU ns/query', 'collections'],
    rows: [...answers, { ...control, name: `control: ${control.name}` }].map((row) => [
      row.name,
      String(row.operations),
      String(row.bytes),
      fixed(row.bytes / row.operations, 3),
      fixed(row.nanosEach, 0),
      String(row.collections),
    ]),
    notes: [
      'growth of the V8 heap while nothing is collected; the control shows that it is seen',
      'no sockets; the CPU time includes copying the query into its slot',
    ],
  }
}

function batchTable({ batches }: AllocationResult): Table {
  return {
    title: 'Allocated by the batch calls (recvmmsg and sendmmsg through koffi)',
    columns: [
      'packets per batch',
      'n',
      'bytes in all',
      'bytes/batch',
      'CPU ns/batch',
      'CPU ns/packet',
    ],
    rows: batches.map(({ size, operations, bytes, nanosEach }) => [
      String(size),
      String(operations),
      String(bytes),
      fixed(bytes / operations, 3),
      fixed(nanosEach, 0),
      fixed(nanosEach / size, 0),
    ]),
    notes: [
      'two sockets send the same packets to and fro; one receive and one send count as one batch',
      'V8 heap only: what koffi takes from malloc inside a call is not seen here',
    ],
  }
}

/** `[1234:0x7f0aa4001000]  48 ms: Scavenge …`, from --trace-gc: one line for each collection. */
const collectionLine = /^\[\d+:(0x[0-9a-f]+)\]\s.*\bms: /gm

async function collectionsUnderLoad({ isQuick, directory, say }: BenchContext): Promise<Table> {
  const names = 10_000
  const seconds = isQuick ? 3 : 10
  const queryFile = writeQueryFile(directory, names)
  const { paths } = await bundleFiles(directory, 'allocation', { services: names, pools: names })
  const server = await startGslbd(paths, { core: serverCore, flags: ['--trace-gc'] })
  try {
    say(`garbage collections in ${seconds} s of full load`)
    const { port, program } = server
    await dnsperf({ port, queryFile, seconds: 2, core: loadCore })
    const before = program.output().length
    const countedBefore = await ask<Counted>(program, 'counters')
    await dnsperf({ port, queryFile, seconds, core: loadCore })
    const counted = await ask<Counted>(program, 'counters')
    const byHeap = new Map<string, number>()
    for (const [, heap] of program.output().slice(before).matchAll(collectionLine)) {
      byHeap.set(heap!, (byHeap.get(heap!) ?? 0) + 1)
    }
    const queries = counted.queries - countedBefore.queries
    const batches = counted.batches - countedBefore.batches
    const all = [...byHeap.values()].reduce((sum, count) => sum + count, 0)
    return {
      title: `Garbage collections of the whole process in ${seconds} s of full load`,
      columns: ['queries', 'batches', 'queries/batch', 'collections', 'most in one thread'],
      rows: [
        [
          String(queries),
          String(batches),
          fixed(queries / batches, 1),
          String(all),
          String(Math.max(0, ...byHeap.values())),
        ],
      ],
      notes: ['all threads together: main, responder, TCP'],
    }
  } finally {
    await server.stop()
  }
}
