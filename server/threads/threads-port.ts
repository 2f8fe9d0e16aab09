// The port by which a node controls its answering threads.
import type { AheadStatus } from '#server/ahead/ahead-signer.ts'
import type { Network } from '#dns/network.ts'
import type { Rcode } from '#dns/rcode.ts'
import type { UpdateOutcome } from '#dns/update/update-outcome.ts'
import type { Log } from '#lib/log.ts'
import type { RateMemory } from '#answer/rate-limit/rate-memory.ts'
import type { AnswerSettings } from '#answer/transaction.ts'
import type { TcpLimits } from '#server/stream/tcp-limits.ts'
import type { UpdateSigner } from '#zones/update/update-writers.ts'
import type { TransferSettings } from '#zones/transfer/transfers.ts'
import type { ExchangeKey } from '#zones/exchange/exchange.ts'
import type { CounterSnapshot } from '#answer/counters/counters.ts'
import type { Generation } from '#answer/serving-view.ts'
import type { ScriptStatus } from '#answer/script/host.ts'
import type { HandedSockets, ListenerSockets } from '#system/sockets/handed-sockets.ts'
import type { TcpStats } from '#server/stream/tcp-connection.ts'
import type { GivenCertificates, NamedPair } from '#server/tls/sources.ts'
import type { Result } from '#lib/result.ts'
import type { ExchangeStats } from './stream-exchange.ts'
import type { SecureStats } from './stream-stats.ts'

export interface ThreadGroupParts {
  readonly listenAddr: string
  /** 0: the system chooses one for UDP and TCP. */
  readonly port: number
  /** 0: UDP by node:dgram. */
  readonly threads: number
  readonly settings: AnswerSettings
  readonly tcpLimits: Partial<TcpLimits>
  /** DNS over TLS, and over HTTPS, at the same address. Left out: off. */
  readonly tls?: {
    readonly pairs: readonly NamedPair[]
    /** null: none is used. */
    readonly given: GivenCertificates | null
    readonly port: number
    readonly https?: { readonly port: number; readonly path: string }
  }
  /** Networks of proxies, which send a PROXY header. Left out: none. */
  readonly proxies?: readonly Network[]
  readonly seed: number
  /** The table of a RumStore; left out: browsers measure nothing. */
  readonly rum?: SharedArrayBuffer | null
  /** The cells of a QueryBucket; left out: queries are unlimited. */
  readonly queryBucket?: SharedArrayBuffer
  /** Left out: answers are not rate-limited. */
  readonly rateLimit?: RateMemory | undefined
  /** The rings of QuerySamples; left out: no samples are taken. */
  readonly querySamples?: readonly SharedArrayBuffer[] | undefined
  /** The rings of a QueryLog; left out: no query is logged. */
  readonly queryLog?: readonly SharedArrayBuffer[] | undefined
  /** Left out: zones cannot be transferred. */
  readonly transfers?: TransferSettings
  /** Path of a keytab, by which keys are agreed on with clients. Left out: they are not. */
  readonly keytab?: string | undefined
  /** Carries out an update with a valid signature; never rejects. Left out: all are refused. */
  readonly onUpdate?: (message: Uint8Array, signer: UpdateSigner) => Promise<UpdateOutcome>
  /** Takes a NOTIFY message. Left out: NOTIMP is the answer. */
  readonly onNotice?: (message: Uint8Array, client: Uint8Array) => Rcode
  readonly log: Log
  /** Called when a thread died of a bug of ours; it is being restarted. */
  readonly onCrash: (error: Error) => void
}

export type CreateThreads = (parts: ThreadGroupParts) => DnsThreads

export interface DnsThreads {
  /** 0: no port is open. */
  readonly port: number
  readonly tcpStats: (TcpStats & { readonly secure?: SecureStats | undefined }) | undefined
  readonly exchangeStats: ExchangeStats | undefined
  readonly scripts: { readonly status: () => ScriptStatus }
  readonly ahead: { readonly status: () => AheadStatus }
  /** Opens the sockets, or takes those of the previous process. */
  readonly start: (handed?: HandedSockets) => Promise<Result<{ port: number }, string>>
  /** Hands a generation to all threads. */
  readonly publish: (generation: Generation) => void
  /** Resolves when each thread that gets queries answers from `number`, or a later one. */
  readonly adopted: (
    number: number,
    patienceMs: number,
  ) => Promise<'by all' | 'not by all' | 'stopping'>
  /** True when no thread reads, or will read, a generation before `number`. */
  readonly haveAdopted: (number: number) => boolean
  /** The longest time that a thread's last adoption kept queries waiting. */
  readonly swapMicrosMax: () => number
  /** Returns a row for each thread. `threadId` is that of the operating system; 0: unknown. */
  readonly counters: () => readonly (CounterSnapshot & { readonly threadId: number })[]
  readonly setKeys: (keys: readonly ExchangeKey[]) => void
  /** The sockets that may be handed to another process. */
  readonly sockets: () => readonly ListenerSockets[]
  /** Keeps threads that have not started from starting. */
  readonly callOffStarts: () => void
  readonly stop: () => Promise<void>
}
