// The messages between the main thread and the stream thread.
import type { UpdateOutcome } from '#dns/update/update-outcome.ts'
import type { ExchangeKey } from '#zones/exchange/exchange.ts'
import type { TcpListening } from '#server/stream/tcp.ts'
import type { TcpStats } from '#server/stream/tcp-connection.ts'
import type { GivenPairs, NamedPair } from '#server/tls/sources.ts'
import type { LogMessage } from '#system/worker/worker-log.ts'
import type { SecureStats } from './stream-stats.ts'
import type { TcpLimits } from '#server/stream/tcp-limits.ts'
import type { Generation } from '#answer/serving-view.ts'
import type { UpdateSigner } from '#zones/update/update-writers.ts'
import type { TransferSettings } from '#zones/transfer/transfers.ts'
import type { HandedMessage } from './hand-over.ts'
import type { AnsweringStart } from './responder-control.ts'
import type { ExchangeStats } from './stream-exchange.ts'
import type { SourceName, SourcePlace } from '#system/sockets/packet-sources.ts'

/** Listeners with TLS. */
export const secureKinds = ['tls', 'https'] as const
export type SecureKind = (typeof secureKinds)[number]

/** The open TLS listeners. */
export type SecureListening = Readonly<Partial<Record<SecureKind, TcpListening>>>

export interface TlsStart {
  readonly pairs: readonly NamedPair[]
  readonly given: GivenPairs
  /** Path of DNS over HTTPS. */
  readonly path: string
  readonly places: Readonly<Partial<Record<SecureKind, SecurePlace | undefined>>>
  /**
   * True: the thread does not start without certificate and port. False: it serves the rest and
   * retries.
   */
  readonly mustOpen: boolean
}

interface SecurePlace {
  readonly port: number
  /** A listening socket of the previous process. */
  readonly handed: number | undefined
}

export interface StreamStart extends AnsweringStart {
  /** Index among the threads in the control words, after the responders. */
  readonly index: number
  readonly listenAddr: string
  readonly port: number
  /** A listening socket of the previous process; undefined: none. */
  readonly handedTcp: number | undefined
  /** undefined: TLS is off. */
  readonly tls: TlsStart | undefined
  /** Served before it listens; undefined: nothing is published yet. */
  readonly generation: Generation | undefined
  readonly keys: readonly ExchangeKey[]
  /**
   * The responders' packet source; undefined: there are no responders, and this thread takes
   * packets.
   */
  readonly source: SourceName | undefined
  readonly tcpLimits: Partial<TcpLimits>
  readonly transfers: TransferSettings
  /** Path of a keytab; undefined: keys are not agreed on. */
  readonly keytab: string | undefined
}

export type ToStream =
  | { readonly kind: 'generation'; readonly generation: Generation }
  | { readonly kind: 'keys'; readonly keys: readonly ExchangeKey[] }
  | { readonly kind: 'certificate'; readonly pairs: GivenPairs }
  | { readonly kind: 'handed'; readonly message: HandedMessage; readonly from: SourcePlace }
  | { readonly kind: 'updated'; readonly id: number; readonly outcome: UpdateOutcome }
  | { readonly kind: 'stop' }

export type FromStream =
  | {
      readonly kind: 'listening'
      readonly port: number
      /** The TCP socket's; undefined: it cannot be handed to another process. */
      readonly descriptor: number | undefined
      readonly secure: SecureListening
    }
  | { readonly kind: 'secure'; readonly listening: SecureListening }
  | { readonly kind: 'failed'; readonly message: string }
  | LogMessage
  | {
      readonly kind: 'stats'
      readonly tcp: TcpStats
      readonly secure: SecureStats | undefined
      readonly exchange: ExchangeStats
    }
  | {
      readonly kind: 'update'
      readonly id: number
      /** Without its signature. */
      readonly message: Uint8Array
      readonly signer: UpdateSigner
    }
  | {
      readonly kind: 'notice'
      readonly id: number
      /** Without its signature. */
      readonly message: Uint8Array
      readonly client: Uint8Array
    }

export type StreamUpdate = Extract<FromStream, { readonly kind: 'update' | 'notice' }>
