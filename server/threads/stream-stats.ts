// Sums the counters of the stream thread over its restarts, so that no counter decreases.
import type { HttpsCounts } from '#server/stream/https-request.ts'
import type { TcpStats } from '#server/stream/tcp-connection.ts'
import type { CertificateStatus } from '#server/tls/certificate.ts'
import type { ExchangeStats } from './stream-exchange.ts'

/** Counters of the TLS listeners. */
export interface SecureStats {
  readonly tls: TcpStats
  /** undefined: DNS over HTTPS is off. */
  readonly https?: TcpStats | undefined
  readonly requests?: HttpsCounts | undefined
  readonly certificates: readonly CertificateStatus[]
}

export interface StreamCounts {
  readonly tcp: TcpStats
  /** undefined: TLS is off. */
  readonly secure?: SecureStats | undefined
  readonly exchange: ExchangeStats
}

export class StreamStats {
  /** Last counts of the threads that have ended. */
  #before: StreamCounts | undefined
  #now: StreamCounts | undefined

  /** @param counts since the start of the current thread */
  take(counts: StreamCounts): void {
    this.#now = counts
  }

  /** The next counts are of a new thread, from 0. */
  restart(): void {
    this.#before = this.total
    this.#now = undefined
  }

  /** undefined before the first report. */
  get total(): StreamCounts | undefined {
    const before = this.#before
    const now = this.#now
    if (before === undefined) return now
    const { tcp, secure, exchange } = before
    return {
      tcp: sumOfTcp(tcp, now?.tcp),
      secure: secure && {
        tls: sumOfTcp(secure.tls, now?.secure?.tls),
        https: secure.https && sumOfTcp(secure.https, now?.secure?.https),
        requests: secure.requests && sum(secure.requests, now?.secure?.requests),
        certificates: now?.secure?.certificates ?? secure.certificates,
      },
      exchange: {
        messages: sum(exchange.messages, now?.exchange.messages),
        transfers: {
          ...sum(exchange.transfers, now?.exchange.transfers),
          running: now?.exchange.transfers.running ?? 0,
        },
        keys: { ...sum(exchange.keys, now?.exchange.keys), open: now?.exchange.keys.open ?? 0 },
        history: now?.exchange.history ?? { changes: 0, bytes: 0 },
      },
    }
  }
}

const sumOfTcp = (before: TcpStats, now: TcpStats | undefined): TcpStats => ({
  ...sum(before, now),
  open: now?.open ?? 0,
})

function sum<Counts extends object>(before: Counts, now: Counts | undefined): Counts {
  const more = (now ?? {}) as Readonly<Record<string, number>>
  const pairs = Object.entries(before as Readonly<Record<string, number>>)
  return Object.fromEntries(
    pairs.map(([name, count]) => [name, count + (more[name] ?? 0)]),
  ) as Counts
}
