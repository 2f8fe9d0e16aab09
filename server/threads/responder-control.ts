// Control words in shared memory between the main thread and the responders.
import { assert } from '#lib/assert.ts'
import type { MessagePort } from 'node:worker_threads'
import type { RateMemory } from '#answer/rate-limit/rate-memory.ts'
import type { AnswerSettings } from '#answer/transaction.ts'
import type { Network } from '#dns/network.ts'
import type { HandedMessage } from './hand-over.ts'
import type { SourceName, SourcePlace } from '#system/sockets/packet-sources.ts'

export const Control = {
  /** Cell 0: the generation to serve. */
  Generation: 0,
  /** Value of cell 0 that stops the responders. */
  Stop: -1,
  /** Per thread: the generation that it serves. */
  Adopted: 0,
  /** Per thread: how long the last adoption kept queries waiting, in microseconds. */
  SwapMicros: 1,
  /** Per thread: its id in the operating system, for its CPU time. */
  ThreadId: 2,
} as const

const cellsPerThread = 4

export function controlBytes(threads: number): number {
  return (1 + threads * cellsPerThread) * 4
}

export function controlCell(thread: number, cell: number): number {
  return 1 + thread * cellsPerThread + cell
}

/** Called by a thread when it begins to serve generation `number`. */
export function acknowledge(
  control: Int32Array,
  thread: number,
  number: number,
  tookMs: number,
): void {
  const before = Atomics.load(control, controlCell(thread, Control.Adopted))
  assert(number > 0 && number >= before, 'a thread goes from generation to a later one')
  Atomics.store(control, controlCell(thread, Control.SwapMicros), Math.round(tookMs * 1000))
  Atomics.store(control, controlCell(thread, Control.Adopted), number)
}

/** The start data of each thread that answers. */
export interface AnsweringStart {
  /** Networks of proxies; empty: PROXY headers are not accepted. */
  readonly proxies: readonly Network[]
  readonly settings: AnswerSettings
  readonly seed: number
  readonly control: SharedArrayBuffer
  readonly counters: SharedArrayBuffer
  /** See query-bucket.ts. */
  readonly queryBucket: SharedArrayBuffer
  /** undefined: answers are not rate-limited. */
  readonly rateLimit: RateMemory | undefined
  /** See script/mailbox.ts. */
  readonly scriptMailbox: SharedArrayBuffer
  /** See hand-over.ts. */
  readonly handOver: SharedArrayBuffer
  /** See query-log/ring.ts; undefined: no query is logged. */
  readonly queryLog: SharedArrayBuffer | undefined
}

/** The start data of a responder. */
export interface ResponderStart extends AnsweringStart {
  readonly kind: 'responder'
  readonly index: number
  /** The source of its packets: a row of packet-sources.ts, and its place there. */
  readonly source: SourceName
  readonly place: SourcePlace
  /** See samples/query-ring.ts; undefined: no samples are taken. */
  readonly querySamples: SharedArrayBuffer | undefined
  /** Receives generations; read without an event loop, which a responder does not have. */
  readonly port: MessagePort
}

/** @param data start data of a thread */
export function isResponderStart(data: unknown): data is ResponderStart {
  return (data as Partial<ResponderStart> | null | undefined)?.kind === 'responder'
}

/** Messages to the main thread: `ready`, then handed-over queries. */
export type FromResponder = 'ready' | HandedMessage
