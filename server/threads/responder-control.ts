// Control words in shared memory between the main thread and the responders.
import { assert } from '#lib/assert.ts'
import type { MessagePort } from 'node:worker_threads'
import type { RateMemory } from '#answer/rate-limit/rate-memory.ts'
import type { AnswerSettings } from '#answer/transaction.ts'
import type { Network } from '#dns/network.ts'
import type { HandedMessage } from './hand-over.ts'
import type { SourceName, SourcePlace } from '#system/sockets/packet-sources.ts'

export const Control = {
  /** Cell 0: the generation that all should serve. */
  Generation: 0,
  /** Value of that cell that ends the responders. */
  Stop: -1,
  /** Per thread: the generation it serves. */
  Adopted: 0,
  /** Per thread: how long the last take-over kept queries waiting. */
  SwapMicros: 1,
  /** Per thread: the system's id of the thread, for its CPU time. */
  ThreadId: 2,
} as const

const cellsPerThread = 4

export function controlBytes(threads: number): number {
  return (1 + threads * cellsPerThread) * 4
}

export function controlCell(thread: number, cell: number): number {
  return 1 + thread * cellsPerThread + cell
}

/** Called by a thread that serves generation `number` from now on. */
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

/** What a responder is started with. */
export interface ResponderStart {
  readonly kind: 'responder'
  readonly index: number
  /** Where its packets come from: a row of packet-sources.ts, and its place there. */
  readonly source: SourceName
  readonly place: SourcePlace
  /** Networks of proxies; none: it takes no PROXY header. */
  readonly proxies: readonly Network[]
  readonly settings: AnswerSettings
  readonly seed: number
  readonly control: SharedArrayBuffer
  readonly counters: SharedArrayBuffer
  /** See query-bucket.ts. */
  readonly queryBucket: SharedArrayBuffer
  /** Without it no answer is held back. */
  readonly rateLimit: RateMemory | undefined
  /** See script/mailbox.ts. */
  readonly scriptMailbox: SharedArrayBuffer
  /** See hand-over.ts. */
  readonly handOver: SharedArrayBuffer
  /** See samples/query-ring.ts; without it nobody looks at queries. */
  readonly querySamples: SharedArrayBuffer | undefined
  /** See query-log/ring.ts; without it no query is logged. */
  readonly queryLog: SharedArrayBuffer | undefined
  /** Generations arrive here; read without an event loop, which a responder does not have. */
  readonly port: MessagePort
}

/** @param data what a thread was started with */
export function isResponderStart(data: unknown): data is ResponderStart {
  return (data as Partial<ResponderStart> | null | undefined)?.kind === 'responder'
}

/** What it tells the main thread: that it is ready, then what it hands over. */
export type FromResponder = 'ready' | HandedMessage
