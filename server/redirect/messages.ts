// Defines the messages between the main thread and the thread of the redirect listener.
import type { RedirectColumns } from '#bundle/redirects/redirect-table.ts'
import type { GivenPairs, ListedPair } from '#server/tls/sources.ts'
import type { LogMessage } from '#system/worker/worker-log.ts'

/** What an ACME server is answered when it asks the host for the token. */
export interface RedirectChallenge {
  /** Lower case. */
  readonly host: string
  readonly token: string
  readonly answer: string
}

/** Hosts whose challenges members answer. */
export interface ChallengeRule {
  readonly hosts: readonly string[]
  /** `ADDRESS:PORT`, asked in their order. */
  readonly members: readonly string[]
}

export interface RedirectListenerSettings {
  readonly listenAddr: string
  readonly port: number
  readonly idleTimeoutMs: number
  readonly requestTimeoutMs: number
  readonly maxConnections: number
  readonly maxPerClient: number
  /** Path of the access log; undefined when none is written. */
  readonly accessLog: string | undefined
  /** Left out: no challenge is passed on. */
  readonly challenges?: readonly ChallengeRule[]
  /** Without an https port there is no https listener. */
  readonly https: {
    readonly port: number | undefined
    readonly certificates: Readonly<Record<string, ListedPair>>
    /** An ACME server gives one, too. */
    readonly acme?: boolean
  }
}

/** Descriptors of listening sockets; undefined when there is none. */
export interface RedirectDescriptors {
  readonly http?: number | undefined
  readonly https?: number | undefined
}

/** The data that the thread starts with. */
export interface RedirectWorkerData {
  readonly settings: RedirectListenerSettings
  /** Sockets that the process before has handed over; the thread closes them. */
  readonly handed: RedirectDescriptors
  /** What an ACME server gave. */
  readonly certificates: GivenPairs
  readonly counters: SharedArrayBuffer
}

export interface RedirectTable {
  /** Counts the tables of this process, from 1. */
  readonly number: number
  /** Columns in shared memory that is no longer written to. */
  readonly columns: RedirectColumns
  /** A double for each row: hits since this table came into use. */
  readonly hits: SharedArrayBuffer
}

export type ToRedirectWorker =
  | { readonly kind: 'table'; readonly table: RedirectTable }
  | { readonly kind: 'challenges'; readonly challenges: readonly RedirectChallenge[] }
  | { readonly kind: 'certificates'; readonly pairs: GivenPairs }
  | { readonly kind: 'reopen-log' }
  | { readonly kind: 'stop' }

export type FromRedirectWorker =
  | {
      readonly kind: 'listening'
      readonly port: number
      readonly httpsPort: number | null
      readonly descriptors: RedirectDescriptors
    }
  /** A sentence for the operator, after which the thread ends. */
  | { readonly kind: 'failed'; readonly reason: string }
  | { readonly kind: 'adopted'; readonly number: number }
  | LogMessage
