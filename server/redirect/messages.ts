// The messages between the main thread and that of the redirect listener.
import type { RedirectColumns } from '#bundle/redirects/redirect-table.ts'
import type { LogMessage } from '#system/worker/worker-log.ts'

export interface CertificateFiles {
  readonly cert: string
  readonly key: string
}

export interface RedirectListenerSettings {
  readonly listenAddr: string
  readonly port: number
  readonly idleTimeoutMs: number
  readonly requestTimeoutMs: number
  readonly maxConnections: number
  readonly maxPerClient: number
  /** A path; undefined: none. */
  readonly accessLog: string | undefined
  /** Without a port there is no https. */
  readonly https: {
    readonly port: number | undefined
    readonly certificates: Readonly<Record<string, CertificateFiles>>
  }
}

/** Descriptors of sockets that listen; undefined: there is none. */
export interface RedirectDescriptors {
  readonly http?: number | undefined
  readonly https?: number | undefined
}

/** What the thread starts with. */
export interface RedirectWorkerData {
  readonly settings: RedirectListenerSettings
  /** Sockets that the process before has handed over; the thread closes them. */
  readonly handed: RedirectDescriptors
  readonly counters: SharedArrayBuffer
}

export interface RedirectTable {
  /** Counts the tables of this process, from 1. */
  readonly number: number
  /** In shared memory that is written to no more. */
  readonly columns: RedirectColumns
  /** A double for each row: hits since this table is used. */
  readonly hits: SharedArrayBuffer
}

export type ToRedirectWorker =
  | { readonly kind: 'table'; readonly table: RedirectTable }
  | { readonly kind: 'reopen-log' }
  | { readonly kind: 'stop' }

export type FromRedirectWorker =
  | {
      readonly kind: 'listening'
      readonly port: number
      readonly httpsPort: number | null
      readonly descriptors: RedirectDescriptors
    }
  /** A sentence for the operator; the thread ends. */
  | { readonly kind: 'failed'; readonly reason: string }
  | { readonly kind: 'adopted'; readonly number: number }
  | LogMessage
