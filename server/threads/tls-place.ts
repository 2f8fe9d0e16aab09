// Where a group of threads answers DNS over TLS: kept while its stream thread is started again.
import type { TcpListening } from '#server/stream/tcp.ts'
import { listenerName } from '#system/sockets/handed-sockets.ts'
import type { HandedSockets, ListenerSockets } from '#system/sockets/handed-sockets.ts'
import type { TlsStart } from './stream-messages.ts'
import type { ThreadGroupParts } from './threads-port.ts'

export class TlsPlace {
  readonly #parts: Pick<ThreadGroupParts, 'listenAddr' | 'tls'>
  /** What the thread has said that it listens to. */
  bound: TcpListening | undefined

  constructor(parts: Pick<ThreadGroupParts, 'listenAddr' | 'tls'>) {
    this.#parts = parts
  }

  take(handed: HandedSockets): number | undefined {
    return handed.take(this.#name())[0]
  }

  /** @param mustLoad see `TlsStart` @returns undefined: there is no DNS over TLS */
  start(handed: number | undefined, mustLoad: boolean): TlsStart | undefined {
    const { tls } = this.#parts
    return tls && { ...tls, port: this.bound?.port ?? tls.port, handed, mustLoad }
  }

  sockets(): readonly ListenerSockets[] {
    const descriptor = this.bound?.descriptor
    return descriptor === undefined ? [] : [{ name: this.#name(), descriptors: [descriptor] }]
  }

  #name(): string {
    return listenerName('dns-tls', this.#parts.listenAddr, this.#parts.tls?.port ?? 0)
  }
}
