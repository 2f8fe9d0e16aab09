// The responder thread: receives a batch, answers it, sends it; swaps bundles between batches.
import { setFlagsFromString } from 'node:v8'
import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads'
import type { MessagePort } from 'node:worker_threads'
import { assert } from '#lib/assert.ts'
import { systemClock } from '#lib/clock.ts'
import { BatchTimer, timedEvery } from '#answer/counters/batch-timer.ts'
import { Counters } from '#answer/counters/counters.ts'
import { loadLibc } from '#system/sockets/libc.ts'
import type { Libc } from '#system/sockets/libc.ts'
import { QueryBucket } from '#answer/query-bucket.ts'
import { createHandOver, HandOverGate } from './hand-over.ts'
import { JitWarmUp } from './jit-warm-up.ts'
import { acknowledge, Control, controlCell } from './responder-control.ts'
import type { FromResponder, ResponderStart } from './responder-control.ts'
import { LookAhead } from './look-ahead.ts'
import { respond } from './respond.ts'
import { createTap } from '#answer/query-log/query-tap.ts'
import type { Tap } from '#answer/query-log/query-tap.ts'
import { QuerySampler } from '#answer/samples/query-sampler.ts'
import { ScriptClient } from '#answer/script/client.ts'
import { TableCollector } from '#system/worker/table-collector.ts'
import { SchedulerSlice } from '#system/worker/scheduler-slice.ts'
import { Transaction } from '#answer/transaction.ts'
import { createServingView } from '#answer/serving-view.ts'
import type { Generation } from '#answer/serving-view.ts'
import { UdpBatch } from '#system/sockets/udp-batch.ts'

// The answer path is many small functions, for its readers. By default V8 stops joining them into
// one after a page of code; a larger budget takes a sixth off an answer. It counts when code is
// compiled hot, so it must be set before the first query.
setFlagsFromString('--max-inlined-bytecode-size=2000')
setFlagsFromString('--max-inlined-bytecode-size-cumulative=8000')

const start = workerData as ResponderStart
const control = new Int32Array(start.control)
const collector = new TableCollector()
/** Rehearsals in a turn without a query, and in one with some: each is less than a millisecond. */
const rehearsals = { idle: 10, busy: 1 } as const
/** undefined: nothing was adopted yet, or it is over. */
let warmUp: JitWarmUp | undefined
let newest: Generation | undefined
const libc = loadLibc()
assert(typeof libc !== 'string', 'the main thread has checked that libc loads')
assert(parentPort !== null, 'a responder is a worker')
run(libc, parentPort)

/** @param main is told when the thread is ready */
function run(libc: Libc, main: MessagePort): void {
  const counters = new Counters(start.counters)
  const tx = new Transaction(start.settings, start.seed, counters, systemClock.monotonicMs)
  tx.handsOver = true
  const scripts = new ScriptClient(start.scriptMailbox, tx.counters)
  const tap = createTap(start.queryLog, start.seed)
  const source = new UdpBatch(libc, start.fd, start.endpoint, start.settings.udpPayloadSize)
  Atomics.store(control, controlCell(start.index, Control.ThreadId), libc.gettid())
  // Its socket may be bound as soon as it is ready: no query is to wait for what comes first.
  if (Atomics.load(control, Control.Generation) > 0) takeOver(tx, scripts, tap)
  const post = (message: FromResponder): void => main.postMessage(message)
  post('ready')
  respond(source, tx, {
    control,
    bucket: new QueryBucket(start.queryBucket),
    scripts,
    turns: new SchedulerSlice(libc),
    timer: new BatchTimer(
      counters,
      systemClock.monotonicMs,
      new QuerySampler(start.querySamples, timedEvery - 1),
    ),
    ahead: new LookAhead(source),
    rest: (packets) => warmUp?.step(packets === 0 ? rehearsals.idle : rehearsals.busy),
    tap,
    takeOver: () => takeOver(tx, scripts, tap),
    handOver: createHandOver(new HandOverGate(start.handOver), counters, post),
  })
}

/** Adopts the newest generation that the main thread has sent, and says so. */
function takeOver(tx: Transaction, scripts: ScriptClient, tap: Tap): void {
  const startedMs = systemClock.monotonicMs()
  let last: Generation | undefined
  for (;;) {
    const received = receiveMessageOnPort(start.port) as { message: Generation } | undefined
    if (received === undefined) break
    last = received.message
  }
  if (last === undefined) return
  const generation = last
  newest = last
  const adopted = tx.view?.generation ?? 0
  assert(generation.number > adopted, 'a responder is never sent back to a generation')
  if (adopted === 0) warmUp = warmUpOf(() => adopt(tx, scripts, tap, newest ?? generation))
  adopt(tx, scripts, tap, generation)
  acknowledge(control, start.index, generation.number, systemClock.monotonicMs() - startedMs)
}

function warmUpOf(rehearse: () => void): JitWarmUp {
  return new JitWarmUp(rehearse, () => {
    warmUp = undefined
    collector.started()
  })
}

function adopt(tx: Transaction, scripts: ScriptClient, tap: Tap, generation: Generation): void {
  scripts.adopt(generation.number, generation.scripts ?? null)
  const view = createServingView(generation, { thread: start.index, scripts })
  tx.adopt(view)
  tap.adopt(view)
  collector.takenOver(generation.tablesNumber ?? 0)
}
