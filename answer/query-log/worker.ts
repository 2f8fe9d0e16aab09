// The thread of the query log: logged queries in, dnstap records out.
import { parentPort, workerData } from 'node:worker_threads'
import { assert } from '#lib/assert.ts'
import { createMachineClock, systemClock } from '#lib/clock.ts'
import { logThrough } from '#system/worker/worker-log.ts'
import { DnstapEncoder } from './dnstap.ts'
import { FileSink } from './file-sink.ts'
import { queryLogLimits } from './limits.ts'
import { LoggedQueries, pauseAfter } from './logged-queries.ts'
import { CountCells } from './messages.ts'
import type { FromQueryLogWorker, QueryLogWorkerData, ToQueryLogWorker } from './messages.ts'
import type { Sink } from './sink.ts'
import { SocketSink } from './socket-sink.ts'

assert(parentPort !== null, 'the query log runs in a thread')
const port = parentPort
const { to, rings, counts, ...settings } = workerData as QueryLogWorkerData
const log = logThrough((message: FromQueryLogWorker): void => port.postMessage(message))
const { monotonicMs, nowMs } = systemClock
const sink: Sink =
  to.kind === 'socket'
    ? new SocketSink({ path: to.path, log, monotonicMs })
    : new FileSink({ ...to, log, monotonicMs })
const encoder = new DnstapEncoder(settings)
const queries = new LoggedQueries(rings, { nowMs, machineMs: createMachineClock() })
const cells = new CountCells(counts)

let pauseMs: number = queryLogLimits.pause.leastMs
let timer = setTimeout(look, pauseMs)

port.on('message', (message: ToQueryLogWorker) => {
  if (message.kind === 'stop') void stop()
})

function look(): void {
  pauseMs = pauseAfter(pauseMs, take())
  timer = setTimeout(look, pauseMs)
}

/** @returns the number in the fullest ring */
function take(): number {
  const records = queries.drain((logged) => sink.write(encoder.encode(logged)))
  sink.flush()
  cells.put(sink.counts)
  return records
}

async function stop(): Promise<void> {
  clearTimeout(timer)
  take()
  await sink.close()
  cells.put(sink.counts)
  port.close()
}
