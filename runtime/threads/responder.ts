// A responder thread: receives a batch, answers it, sends it; between batches it takes over a new
// bundle.
import { setFlagsFromString } from 'node:v8'
import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads'
import type { MessagePort } from 'node:worker_threads'
import { assert } from '#lib/assert.ts'
import { systemClock } from '#lib/clock.ts'
import { answer } from '#runtime/answer/answer.ts'
import { Counters } from '#runtime/counters/counters.ts'
import { loadLibc } from '#runtime/sockets/libc.ts'
import type { Libc } from '#runtime/sockets/libc.ts'
import { QueryBucket } from '#runtime/answer/query-bucket.ts'
import { rehearse } from './jit-warm-up.ts'
import { acknowledge, Control, controlCell } from './responder-control.ts'
import type { ResponderStart } from './responder-control.ts'
import { ScriptClient } from '#runtime/script/client.ts'
import { TableCollector } from '#runtime/worker/table-collector.ts'
import { ThreadTurns } from '#runtime/worker/scheduler-slice.ts'
import { Transaction } from '#runtime/answer/transaction.ts'
import type { Generation } from '#runtime/answer/transaction.ts'
import { UdpBatch } from '#runtime/sockets/udp-batch.ts'

// The answer path is many small functions, for its readers. By default V8 stops joining them into
// one after a page of code; a larger budget takes a sixth off an answer. It counts when code is
// compiled hot, so it must be set before the first query.
setFlagsFromString('--max-inlined-bytecode-size=2000')
setFlagsFromString('--max-inlined-bytecode-size-cumulative=8000')

const start = workerData as ResponderStart
const control = new Int32Array(start.control)
const collector = new TableCollector()
const libc = loadLibc()
assert(typeof libc !== 'string', 'the main thread has checked that libc loads')
assert(parentPort !== null, 'a responder is a worker')
run(libc, parentPort)

/** @param main is told when the thread is ready */
function run(libc: Libc, main: MessagePort): void {
  const counters = new Counters(start.counters)
  const tx = new Transaction(start.settings, start.seed, counters, systemClock.monotonicMs)
  const scripts = new ScriptClient(start.scriptMailbox, tx.counters)
  tx.scripts = scripts
  tx.thread = start.index
  const source = new UdpBatch(libc, start.fd, start.endpoint, start.settings.udpPayloadSize)
  const bucket = new QueryBucket(start.queryBucket)
  Atomics.store(control, controlCell(start.index, Control.ThreadId), libc.gettid())
  const turns = new ThreadTurns(libc)
  const { buffer, slotBytes } = source
  tx.source = source.clients
  tx.sourceBytes = source.clientBytes
  // Its socket may be bound as soon as it is ready: no query is to wait for what comes first.
  if (Atomics.load(control, Control.Generation) > 0) takeOver(tx, scripts)
  main.postMessage('ready')
  for (;;) {
    const count = source.receive()
    const wanted = Atomics.load(control, Control.Generation)
    if (wanted !== tx.generation) {
      if (wanted === Control.Stop && count === 0) break
      // Before the batch, not after: a query that comes after a publication sees it.
      if (wanted !== Control.Stop) takeOver(tx, scripts)
    }
    if (count === 0) continue
    tx.counters.batch()
    turns.took(count)
    scripts.startBatch()
    tx.tokens = bucket.take(count)
    for (let slot = 0; slot < count; slot++) {
      const offset = source.slotOffset(slot)
      const length = source.queryLength(slot)
      tx.sourceAt = source.clientOffset(slot)
      source.setReply(slot, answer(tx, buffer, offset, length, buffer, offset, slotBytes))
    }
    bucket.giveBack(tx.tokens)
    const failed = source.send(count)
    if (failed > 0) tx.counters.sendErrors(failed)
    if (wanted === Control.Stop) break
  }
}

/** Adopts the newest generation that the main thread has sent, and says so. */
function takeOver(tx: Transaction, scripts: ScriptClient): void {
  let startedMs = systemClock.monotonicMs()
  let newest: Generation | undefined
  for (;;) {
    const received = receiveMessageOnPort(start.port) as { message: Generation } | undefined
    if (received === undefined) break
    newest = received.message
  }
  if (newest === undefined) return
  const generation = newest
  assert(generation.number > tx.generation, 'a responder is never sent back to a generation')
  if (tx.generation === 0) {
    rehearse(() => adopt(tx, scripts, generation))
    collector.started()
    startedMs = systemClock.monotonicMs()
  }
  adopt(tx, scripts, generation)
  acknowledge(control, start.index, generation.number, systemClock.monotonicMs() - startedMs)
}

function adopt(tx: Transaction, scripts: ScriptClient, generation: Generation): void {
  scripts.adopt(generation.number, generation.scripts ?? null)
  tx.adopt(generation)
  collector.takenOver(generation.tablesNumber ?? 0)
}
