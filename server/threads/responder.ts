// The responder thread and its loop: receive a batch, answer it, send it; between batches, adopt
// what was published. Works with any packet source.
import { setFlagsFromString } from 'node:v8'
import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads'
import type { MessagePort } from 'node:worker_threads'
import * as answering from '#answer/answer.ts'
import { BatchTimer, timedEvery } from '#answer/counters/batch-timer.ts'
import { Counters } from '#answer/counters/counters.ts'
import { RateLimiter } from '#answer/rate-limit/limiter.ts'
import { QueryBucket } from '#answer/counters/query-bucket.ts'
import { createTap, noTap } from '#answer/query-log/query-tap.ts'
import type { Tap } from '#answer/query-log/query-tap.ts'
import { QuerySampler } from '#answer/samples/query-sampler.ts'
import { ScriptClient } from '#answer/script/client.ts'
import type { Generation } from '#answer/serving-view.ts'
import { Transaction } from '#answer/transaction.ts'
import { assert } from '#lib/assert.ts'
import { createMachineClock, systemClock } from '#lib/clock.ts'
import { loadLibc } from '#system/sockets/libc.ts'
import type { PacketSource } from '#system/sockets/packet-source.ts'
import { packetSources } from '#system/sockets/packet-sources.ts'
import { ProxyGate } from '#system/sockets/proxy-gate.ts'
import { ProxySource } from '#system/sockets/proxy-source.ts'
import { SchedulerSlice } from '#system/worker/scheduler-slice.ts'
import { Adoption } from './adoption.ts'
import { createHandOver, HandOverGate } from './hand-over.ts'
import { LookAhead } from './look-ahead.ts'
import { Control, controlCell, isResponderStart } from './responder-control.ts'
import type { FromResponder, ResponderStart } from './responder-control.ts'

// Local constants are faster than imports: see answer/answer.ts.
const { answer, handedOver } = answering

/** The parts that run between and around batches. */
interface ResponderParts {
  /** See responder-control.ts; `Control.Stop` in its first cell ends the loop. */
  readonly control: Int32Array
  readonly bucket: Pick<QueryBucket, 'take' | 'giveBack'>
  readonly scripts: { readonly startBatch: () => void }
  /** Counts packets, to yield the core in time. */
  readonly turns: { readonly took: (packets: number) => void }
  /** Called when a batch begins, and with its number of queries when its answers are sent. */
  readonly timer: {
    readonly begin: (source: PacketSource, queries: number) => void
    readonly end: (queries: number) => void
  }
  /** Called at the end of each turn, when no query of it waits. */
  readonly rest: (packets: number) => void
  /** Prefetches for all packets of a batch; left out: no prefetch. */
  readonly ahead?: Pick<LookAhead, 'read'>
  /** Copies some queries and their answers; left out: none. */
  readonly tap?: Tap
  /** Makes the transaction adopt the published generation. */
  readonly takeOver: () => void
  /** Receives messages that `answer` leaves to another thread. */
  readonly handOver: (source: PacketSource, slot: number) => void
}

export function respond(source: PacketSource, tx: Transaction, parts: ResponderParts): void {
  const { control, bucket, scripts, turns, timer, ahead, tap = noTap } = parts
  const { buffer, slotBytes } = source
  tx.source = source.clients
  tx.sourceBytes = source.clientBytes
  for (;;) {
    const count = source.receive()
    const wanted = Atomics.load(control, Control.Generation)
    if (wanted !== (tx.view?.generation ?? 0)) {
      if (wanted === Control.Stop && count === 0) break
      // Before the batch, so that queries that follow a publication see it.
      if (wanted !== Control.Stop) parts.takeOver()
    }
    if (count === 0) {
      parts.rest(0)
      continue
    }
    timer.begin(source, count)
    tx.counters.batch()
    turns.took(count)
    scripts.startBatch()
    tx.tokens = bucket.take(count)
    if (tx.limiter !== null) tx.limiter.startBatch()
    let tapped = tap.first(count)
    const { ranges } = tx.chain
    if (ranges !== null && ahead !== undefined && count > 1) {
      tx.chain.ranges = null
      ahead.read(ranges, count)
    }
    for (let slot = 0; slot < count; slot++) {
      const offset = source.slotOffset(slot)
      const length = source.queryLength(slot)
      tx.sourceAt = source.clientOffset(slot)
      if (slot === tapped) tap.asked(tx, buffer, offset, length, source.clientPort(slot))
      const written = answer(tx, buffer, offset, length, buffer, offset, slotBytes)
      if (slot === tapped) tapped = tap.answered(tx, buffer, offset, written)
      if (written === handedOver) parts.handOver(source, slot)
      source.setReply(slot, written > 0 ? written : 0)
    }
    bucket.giveBack(tx.tokens)
    const failed = source.send(count)
    if (failed > 0) tx.counters.sendErrors(failed)
    timer.end(count)
    if (wanted === Control.Stop) break
    parts.rest(count)
  }
}

/** Rehearsals in a turn without queries, and in one with some: less than a millisecond each. */
const rehearsals = { idle: 10, busy: 1 } as const

/**
 * The answer path consists of many small functions, for readability. By default V8 stops inlining
 * after a page of code; a larger budget saves a sixth of an answer. It is read when code is
 * optimised, so it must be set before the first query.
 */
export function inlineMore(): void {
  setFlagsFromString('--max-inlined-bytecode-size=2000')
  setFlagsFromString('--max-inlined-bytecode-size-cumulative=8000')
}

/**
 * Runs the loop in this thread until a stop.
 *
 * @param main receives `ready` and handed-over messages
 */
function createResponder(start: ResponderStart, main: MessagePort): void {
  inlineMore()
  const libc = loadLibc()
  assert(typeof libc !== 'string', 'the main thread has checked that libc loads')
  const control = new Int32Array(start.control)
  const counters = new Counters(start.counters)
  const tx = new Transaction(start.settings, start.seed, counters, systemClock.monotonicMs)
  tx.handsOver = true
  if (start.rateLimit !== undefined) {
    const { rateLimit, index, seed } = start
    tx.limiter = new RateLimiter(rateLimit, index, seed, counters, createMachineClock())
  }
  const scripts = new ScriptClient(start.scriptMailbox, tx.counters)
  const tap = createTap(start.queryLog, start.seed)
  const direct = packetSources[start.source].attach(libc, start.place)
  const { proxies } = start
  const source =
    proxies.length === 0 ? direct : new ProxySource(direct, new ProxyGate(proxies, counters))
  const adoption = new Adoption({
    ...{ index: start.index, control, scripts },
    adopt: (view) => {
      tx.adopt(view)
      tap.adopt(view)
    },
  })
  const takeOver = (): void => {
    const startedMs = systemClock.monotonicMs()
    const generation = newestAt(start.port)
    if (generation !== undefined) adoption.takeOver(generation, startedMs)
  }
  Atomics.store(control, controlCell(start.index, Control.ThreadId), libc.gettid())
  // Adopts first: its socket may be bound as soon as it is ready, and no query should wait for the
  // adoption.
  if (Atomics.load(control, Control.Generation) > 0) takeOver()
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
    rest: (packets) => void adoption.rehearse(packets === 0 ? rehearsals.idle : rehearsals.busy),
    tap,
    takeOver,
    handOver: createHandOver(new HandOverGate(start.handOver), counters, post),
  })
}

/** The latest message of the main thread. */
function newestAt(port: MessagePort): Generation | undefined {
  let last: Generation | undefined
  for (;;) {
    const received = receiveMessageOnPort(port) as { message: Generation } | undefined
    if (received === undefined) return last
    last = received.message
  }
}

// Other importers of this file run the loop alone.
if (parentPort !== null && isResponderStart(workerData)) createResponder(workerData, parentPort)
