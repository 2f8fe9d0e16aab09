// Tests swaps under load: whether a query is lost or refused during a hundred changes of the
// bundle.
import { setTimeout as sleep } from 'node:timers/promises'
import { fixed } from './report.ts'
import type { BenchContext, Report } from './report.ts'
import { dnsperf } from './load/dnsperf.ts'
import { bundleFiles } from './data/encode-bundle.ts'
import { ask } from './servers/program.ts'
import type { Swapped } from './servers/serve-bundle.ts'
import { startGslbd, writeQueryFile } from './servers/servers.ts'
import { median, percentile } from './support/statistics.ts'

const names = 10_000
const rate = 20_000
const swaps = 100

export async function runSwap({ isQuick, directory, say }: BenchContext): Promise<Report> {
  const seconds = isQuick ? 10 : 60
  const queryFile = writeQueryFile(directory, names)
  const { paths } = await bundleFiles(directory, 'swap', { services: names, pools: names })
  const server = await startGslbd(paths, { threads: 2 })
  try {
    say(`${rate} queries/s for ${seconds} s, ${swaps} swaps meanwhile`)
    // Many sockets, so that the kernel divides them among both threads.
    const run = { port: server.port, queryFile, seconds, rate, clients: 16 }
    let isLoadOver = false
    const load = dnsperf(run).finally(() => (isLoadOver = true))
    const swapped: Swapped[] = []
    // Leaves out the first and the last second, so that every swap falls into the load.
    await sleep(1_000)
    const everyMs = ((seconds - 2) * 1_000) / swaps
    const startedMs = performance.now()
    for (let i = 0; i < swaps && !isLoadOver; i++) {
      await sleep(Math.max(0, startedMs + i * everyMs - performance.now()))
      swapped.push(await ask<Swapped>(server.program, 'swap'))
    }
    const result = await load
    const failed = result.completed - (result.byRcode['NOERROR'] ?? 0)
    const pauses = swapped.map(({ pauseMicros }) => pauseMicros)
    const activations = swapped.map(({ activateMs }) => activateMs)
    const figure = (value: number, unit: string) => ({ value, unit, n: swapped.length })
    return {
      tables: [
        {
          title: `${swaps} swaps in ${seconds} s at ${rate} queries/s, ${names} names, 2 threads`,
          columns: ['what', 'value', 'unit'],
          rows: [
            ['swaps while loaded', String(swapped.length), 'swaps'],
            ['queries sent', String(result.sent), 'queries'],
            ['lost', String(result.lost), 'queries'],
            ['answered with another code than NOERROR', String(failed), 'queries'],
            ['worst latency', fixed(result.latencyMs.most, 2), 'ms'],
            ['mean latency', fixed(result.latencyMs.mean, 3), 'ms'],
            ['pause of a responder, median', fixed(median(pauses), 0), 'µs'],
            ['pause of a responder, p95', fixed(percentile(pauses, 95), 0), 'µs'],
            ['pause of a responder, worst', fixed(Math.max(...pauses), 0), 'µs'],
            ['activation, median', fixed(median(activations), 1), 'ms'],
          ],
          notes: [
            'four busy threads share two cores here: the worst pauses hold turns of the others',
            'an activation checks digests and signature, carries the state over, and waits for both threads',
          ],
        },
      ],
      figures: {
        'swap.lost': figure(result.lost, 'queries'),
        'swap.failed': figure(failed, 'queries'),
        'swap.pause': figure(median(pauses) / 1_000, 'ms'),
      },
    }
  } finally {
    await server.stop()
  }
}
