// The TLS listeners of the stream thread, and their common certificates.
import type { Log } from '#lib/log.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import type { HttpsCounts } from '#server/stream/https-request.ts'
import type { TcpListening, TcpServer } from '#server/stream/tcp.ts'
import { certificateLimits } from '#server/tls/certificate.ts'
import type { TlsCertificates } from '#server/tls/certificates.ts'
import type { SecureKind, SecureListening, TlsStart } from './stream-messages.ts'
import type { SecureStats } from './stream-stats.ts'

interface SecureListenersParts {
  readonly tls: TlsStart
  readonly listenAddr: string
  readonly certificates: TlsCertificates
  /** The enabled listeners. */
  readonly servers: Readonly<{ tls: TcpServer; https?: TcpServer | undefined }>
  /** Why one of them cannot be. */
  readonly fault: string | undefined
  /** Counts of HTTPS requests. */
  readonly requests: HttpsCounts
  readonly log: Log
  /** Called when a listener that could not open at first listens. */
  readonly onListening: (listening: SecureListening) => void
  /** Pause between two tries to listen. Default 10 s. */
  readonly againMs?: number
}

const names: Readonly<Record<SecureKind, string>> = {
  ...{ tls: 'DNS over TLS', https: 'DNS over HTTPS' },
}

export class SecureListeners {
  readonly #parts: SecureListenersParts
  readonly #waiting = new Set<NodeJS.Timeout>()

  constructor(parts: SecureListenersParts) {
    this.#parts = parts
  }

  /**
   * Opens all listeners. At the start of a node each must open; later, failures are retried while
   * the rest of the thread serves.
   */
  async open(): Promise<Result<SecureListening, string>> {
    const { tls, certificates, fault, log } = this.#parts
    if (fault !== undefined && tls.mustOpen) return err(fault)
    if (fault !== undefined) log.error({}, fault)
    const loaded = certificates.load()
    if (!loaded.ok && tls.mustOpen) return loaded
    if (!loaded.ok) log.error({}, loaded.error)
    setInterval(() => certificates.look(), certificateLimits.everyMs).unref()
    const all: Partial<Record<SecureKind, TcpListening>> = {}
    for (const [kind, server] of this.#entries()) {
      const listening = await this.#listen(kind, server, tls.places[kind]?.handed)
      if (listening.ok) all[kind] = listening.value
      else if (tls.mustOpen) return listening
      else this.#later(kind, server, listening.error)
    }
    return ok(all)
  }

  /** There may be others. */
  lookAtCertificates(): void {
    this.#parts.certificates.look()
  }

  get stats(): SecureStats {
    const { certificates, servers, requests } = this.#parts
    const { tls, https } = servers
    return {
      tls: { ...tls.stats },
      ...(https === undefined ? {} : { https: { ...https.stats }, requests: { ...requests } }),
      certificates: certificates.status,
    }
  }

  async close(): Promise<void> {
    for (const timer of this.#waiting) clearTimeout(timer)
    await Promise.all(this.#entries().map(([, server]) => server.close()))
  }

  #entries(): readonly (readonly [SecureKind, TcpServer])[] {
    const { tls, https } = this.#parts.servers
    return https === undefined
      ? [['tls', tls]]
      : [
          ['tls', tls],
          ['https', https],
        ]
  }

  async #listen(
    kind: SecureKind,
    server: TcpServer,
    handed?: number,
  ): Promise<Result<TcpListening, string>> {
    const { tls, listenAddr, log } = this.#parts
    const place = tls.places[kind]
    if (place === undefined) return err(`${names[kind]} has no port`)
    const listening = await server.listen(listenAddr, place.port, handed)
    if (listening.ok) log.info({ port: listening.value.port }, `${names[kind]} listens`)
    return listening
  }

  /** Another program may have taken the port between two threads, and may release it. */
  #later(kind: SecureKind, server: TcpServer, reason: string): void {
    const { log, onListening, againMs = certificateLimits.everyMs } = this.#parts
    log.error({}, `${reason}; tried again`)
    const timer = setTimeout(() => {
      this.#waiting.delete(timer)
      void this.#listen(kind, server).then((listening) => {
        if (listening.ok) onListening({ [kind]: listening.value })
        else if (!server.isClosing) this.#later(kind, server, listening.error)
      })
    }, againMs)
    this.#waiting.add(timer)
  }
}
