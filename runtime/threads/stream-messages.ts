// The messages between the main thread and the stream thread.
import type { TcpStats } from '#runtime/sockets/tcp-connection.ts'
import type { TcpLimits } from '#runtime/sockets/tcp-limits.ts'
import type { Generation } from '#runtime/answer/serving-view.ts'
import type { AnswerSettings } from '#runtime/answer/transaction.ts'

export interface StreamStart {
  /** Its place among the threads in the control words: behind the responders. */
  readonly index: number
  readonly listenAddr: string
  readonly port: number
  /** True where there are no responder threads. */
  readonly withUdp: boolean
  readonly settings: AnswerSettings
  readonly tcpLimits: Partial<TcpLimits>
  readonly seed: number
  readonly control: SharedArrayBuffer
  readonly counters: SharedArrayBuffer
  /** See query-bucket.ts. */
  readonly queryBucket: SharedArrayBuffer
  /** See script/mailbox.ts. */
  readonly scriptMailbox: SharedArrayBuffer
}

export type ToStream =
  { readonly kind: 'generation'; readonly generation: Generation } | { readonly kind: 'stop' }

export type FromStream =
  | { readonly kind: 'listening'; readonly port: number }
  | { readonly kind: 'failed'; readonly message: string }
  | { readonly kind: 'stats'; readonly tcp: TcpStats }
