// Receives packets by batched UDP, with a socket for each thread. The first sockets are bound at
// once, the others when their threads are ready.
import { assert } from '#lib/assert.ts'
import { ok } from '#lib/result.ts'
import type { Libc } from './libc.ts'
import type { PacketSourceRow, SourcePlaces } from './packet-source.ts'
import { UdpBatch } from './udp-batch.ts'
import { UdpSender } from './udp-sender.ts'
import { adoptUdpEndpoint, bindUdpSocket, openUdpEndpoint, openUdpSocket } from './udp-socket.ts'
import type { UdpEndpoint, UdpPlace } from './udp-socket.ts'

export const udpSource: PacketSourceRow<UdpPlace> = {
  open: (libc, { listenAddr, port, threads, boundAtOnce, replyBytesMax, handed }) => {
    if (handed.length > 0) {
      // With fewer threads than handed sockets, the rest are closed; the process before reads what
      // has arrived there.
      for (const fd of handed.slice(threads)) libc.close(fd)
      const taken = handed.slice(0, threads)
      return ok(new UdpPlaces(libc, adoptUdpEndpoint(libc, listenAddr, taken, replyBytesMax)))
    }
    const endpoint = openUdpEndpoint(libc, listenAddr, port, boundAtOnce, replyBytesMax)
    return endpoint.ok ? ok(new UdpPlaces(libc, endpoint.value)) : endpoint
  },
  attach: (libc, place) => new UdpBatch(libc, place),
  sender: (libc) => new UdpSender(libc),
}

class UdpPlaces implements SourcePlaces<UdpPlace> {
  readonly #libc: Libc
  readonly #endpoint: UdpEndpoint
  readonly #fds: (number | undefined)[]
  readonly #bound: Set<number>

  constructor(libc: Libc, endpoint: UdpEndpoint) {
    this.#libc = libc
    this.#endpoint = endpoint
    assert(endpoint.fds.length > 0, 'one socket is bound from the beginning')
    this.#fds = [...endpoint.fds]
    this.#bound = new Set(endpoint.fds.keys())
  }

  get port(): number {
    return this.#endpoint.port
  }

  get bound(): ReadonlySet<number> {
    return this.#bound
  }

  placeOf(thread: number): UdpPlace {
    const fd = (this.#fds[thread] ??= openUdpSocket(this.#libc, this.#endpoint))
    return { fd, endpoint: this.#endpoint }
  }

  bind(thread: number): void {
    if (this.#bound.has(thread)) return
    bindUdpSocket(this.#libc, this.#endpoint, this.placeOf(thread).fd)
    this.#bound.add(thread)
  }

  descriptors(): readonly number[] {
    return [...this.#bound].map((thread) => this.placeOf(thread).fd)
  }

  close(): void {
    for (const fd of this.#fds) if (fd !== undefined) this.#libc.close(fd)
    this.#fds.length = 0
    this.#bound.clear()
  }
}
