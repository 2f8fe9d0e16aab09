// Where the stream thread of a group listens: kept while the thread is started again.
import type { TcpListening } from '#server/stream/tcp.ts'
import { listenerName } from '#system/sockets/handed-sockets.ts'
import type { HandedSockets, ListenerSockets } from '#system/sockets/handed-sockets.ts'
import { secureKinds } from './stream-messages.ts'
import type { SecureKind, SecureListening, TlsStart } from './stream-messages.ts'
import type { ThreadGroupParts } from './threads-port.ts'

type Kind = 'tcp' | SecureKind

export type HandedStream = Readonly<Partial<Record<Kind, number>>>

const kinds: readonly Kind[] = ['tcp', ...secureKinds]

export class StreamPlaces {
  readonly #parts: Pick<ThreadGroupParts, 'listenAddr' | 'port' | 'tls'>
  readonly #bound = new Map<Kind, TcpListening>()

  constructor(parts: Pick<ThreadGroupParts, 'listenAddr' | 'port' | 'tls'>) {
    this.#parts = parts
  }

  take(handed: HandedSockets): HandedStream {
    return Object.fromEntries(kinds.map((kind) => [kind, handed.take(this.#name(kind))[0]]))
  }

  /** @returns undefined: there is no TLS */
  tls(handed: HandedStream): TlsStart | undefined {
    const { tls } = this.#parts
    if (tls === undefined) return undefined
    const { certFile, keyFile, https } = tls
    const path = https?.path ?? ''
    const places: Partial<Record<SecureKind, TlsStart['places'][SecureKind]>> = {}
    for (const kind of secureKinds) {
      const port = this.#bound.get(kind)?.port ?? this.#port(kind)
      if (port !== undefined) places[kind] = { port, handed: handed[kind] }
    }
    // One that has served goes on without what is lost with a thread.
    return { certFile, keyFile, path, places, mustOpen: this.#bound.size === 0 }
  }

  /** What the thread listens to now. */
  heard(listening: SecureListening & { readonly tcp?: TcpListening }): void {
    for (const kind of kinds) {
      const one = listening[kind]
      if (one !== undefined) this.#bound.set(kind, one)
    }
  }

  /** The thread has ended, and its sockets with it: the ports stay. */
  lost(): void {
    for (const [kind, { port }] of this.#bound) {
      this.#bound.set(kind, { port, descriptor: undefined })
    }
  }

  /** What may be handed to another process. */
  sockets(): readonly ListenerSockets[] {
    return [...this.#bound].flatMap(([kind, { descriptor }]) =>
      descriptor === undefined ? [] : [{ name: this.#name(kind), descriptors: [descriptor] }],
    )
  }

  #port(kind: Kind): number | undefined {
    const { port, tls } = this.#parts
    return { tcp: port, tls: tls?.port, https: tls?.https?.port }[kind]
  }

  #name(kind: Kind): string {
    return listenerName(`dns-${kind}`, this.#parts.listenAddr, this.#port(kind) ?? 0)
  }
}
