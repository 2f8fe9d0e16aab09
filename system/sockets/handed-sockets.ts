// Holds the open sockets of a process by the name of their listener, to hand them to the next
// process.
import type { Server, Socket } from 'node:net'

/** The kind and address of a listener, from the settings: `dns-udp 127.0.0.1 53`. */
export type ListenerName = string

export interface ListenerSockets {
  readonly name: ListenerName
  readonly descriptors: readonly number[]
}

type ListenerKind =
  | 'dns-udp'
  | 'dns-tcp'
  | 'dns-tls'
  | 'dns-https'
  | 'api'
  | 'external-dns'
  | 'redirect'
  | 'redirect-https'

export const listenerName = (kind: ListenerKind, listenAddr: string, port: number): ListenerName =>
  `${kind} ${listenAddr} ${port}`

/** Sockets from the process before. Each is taken once, and the taker closes it. */
export class HandedSockets {
  readonly #sockets: Map<ListenerName, readonly number[]>

  /**
   * Whether the process before still answers on them: a process without a bundle must not read
   * them.
   */
  readonly areAnswered: boolean

  constructor(sockets: readonly ListenerSockets[] = [], areAnswered = false) {
    this.areAnswered = areAnswered
    this.#sockets = new Map(sockets.map(({ name, descriptors }) => [name, descriptors]))
  }

  /** @returns an empty list when no socket has that name, or they were taken */
  take(name: ListenerName): readonly number[] {
    const descriptors = this.#sockets.get(name) ?? []
    this.#sockets.delete(name)
    return descriptors
  }

  /** Takes the remaining sockets, whose listeners the new settings do not have. */
  takeAll(): readonly number[] {
    const descriptors = [...this.#sockets.values()].flat()
    this.#sockets.clear()
    return descriptors
  }
}

/**
 * Returns the descriptor of a listening server, or of a connection. Node does not document it: the
 * name of the field is the same since Node 0.10, and without the field a process could only not be
 * replaced.
 */
export function descriptorOf(server: Server | Socket): number | undefined {
  const { _handle: handle } = server as unknown as { readonly _handle?: { readonly fd?: number } }
  return handle?.fd !== undefined && handle.fd >= 0 ? handle.fd : undefined
}
