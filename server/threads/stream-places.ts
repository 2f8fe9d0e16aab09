// Keeps the ports of a group's stream thread while the thread is restarted.
import type { TcpListening } from '#server/stream/tcp.ts'
import type { GivenPairs } from '#server/tls/sources.ts'
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
  #tell: (pairs: GivenPairs) => void = () => undefined

  constructor(parts: Pick<ThreadGroupParts, 'listenAddr' | 'port' | 'tls'>) {
    this.#parts = parts
  }

  take(handed: HandedSockets): HandedStream {
    return Object.fromEntries(kinds.map((kind) => [kind, handed.take(this.#name(kind))[0]]))
  }

  /** @returns undefined: TLS is off */
  tls(handed: HandedStream): TlsStart | undefined {
    const { tls } = this.#parts
    if (tls === undefined) return undefined
    const { pairs } = tls
    const given = tls.given?.pairs() ?? {}
    const path = tls.https?.path ?? ''
    const places: Partial<Record<SecureKind, TlsStart['places'][SecureKind]>> = {}
    for (const kind of secureKinds) {
      const port = this.#bound.get(kind)?.port ?? this.#port(kind)
      if (port !== undefined) places[kind] = { port, handed: handed[kind] }
    }
    // After a first start, the thread serves without listeners that cannot be reopened.
    return { pairs, given, path, places, mustOpen: this.#bound.size === 0 }
  }

  /** @param tell called with what an ACME server gave, each time that there is another */
  onCertificate(tell: (pairs: GivenPairs) => void): void {
    this.#tell = tell
    this.#parts.tls?.given?.onChange(() => this.tellCertificate())
  }

  /** To a thread that has just started: there may be another one than it began with. */
  tellCertificate(): void {
    const given = this.#parts.tls?.given
    if (given) this.#tell(given.pairs())
  }

  /** Notes the open listeners. */
  heard(listening: SecureListening & { readonly tcp?: TcpListening }): void {
    for (const kind of kinds) {
      const one = listening[kind]
      if (one !== undefined) this.#bound.set(kind, one)
    }
  }

  /** The thread has ended with its sockets; the ports stay. */
  lost(): void {
    for (const [kind, { port }] of this.#bound) {
      this.#bound.set(kind, { port, descriptor: undefined })
    }
  }

  /** The sockets that may be handed to another process. */
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
