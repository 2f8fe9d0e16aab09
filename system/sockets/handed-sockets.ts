// The open sockets of a process by the name of their listener: what it may hand to the next one.
import type { Server, Socket } from 'node:net'

/** What listens, and where, as the settings have it: `dns-udp 127.0.0.1 53`. */
export type ListenerName = string

export interface ListenerSockets {
  readonly name: ListenerName
  readonly descriptors: readonly number[]
}

export type ListenerKind =
  'dns-udp' | 'dns-tcp' | 'dns-tls' | 'dns-https' | 'api' | 'redirect' | 'redirect-https'

export const listenerName = (kind: ListenerKind, listenAddr: string, port: number): ListenerName =>
  `${kind} ${listenAddr} ${port}`

/** Sockets from the process before. Each is taken once; its taker closes it. */
export class HandedSockets {
  readonly #sockets: Map<ListenerName, readonly number[]>

  /** The process before answers on them: a process without a bundle must not read them. */
  readonly areAnswered: boolean

  constructor(sockets: readonly ListenerSockets[] = [], areAnswered = false) {
    this.areAnswered = areAnswered
    this.#sockets = new Map(sockets.map(({ name, descriptors }) => [name, descriptors]))
  }

  /** @returns none where there are none of that name, or they were taken */
  take(name: ListenerName): readonly number[] {
    const descriptors = this.#sockets.get(name) ?? []
    this.#sockets.delete(name)
    return descriptors
  }

  /** Takes the sockets that are left: the new settings name no such listener. */
  takeAll(): readonly number[] {
    const descriptors = [...this.#sockets.values()].flat()
    this.#sockets.clear()
    return descriptors
  }
}

/**
 * The descriptor of a server that listens, or of a connection. Node keeps it to itself: the name of
 * the field is the same since Node 0.10, and one that were missing would only keep a process from
 * being replaced.
 */
export function descriptorOf(server: Server | Socket): number | undefined {
  const { _handle: handle } = server as unknown as { readonly _handle?: { readonly fd?: number } }
  return handle?.fd !== undefined && handle.fd >= 0 ? handle.fd : undefined
}
