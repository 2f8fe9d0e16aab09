// The UDP sockets of the responders: the first are bound at once, the others when their threads are
// ready.
import { assert } from '#lib/assert.ts'
import { ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import type { Libc } from '#system/sockets/libc.ts'
import {
  adoptUdpEndpoint,
  bindUdpSocket,
  openUdpEndpoint,
  openUdpSocket,
} from '#system/sockets/udp-socket.ts'
import type { UdpEndpoint } from '#system/sockets/udp-socket.ts'

export class ResponderSockets {
  readonly #libc: Libc
  readonly endpoint: UdpEndpoint
  readonly #fds: (number | undefined)[]
  readonly #bound: Set<number>

  /** @param count how many are bound at once; errors: a sentence for the operator */
  static open(
    libc: Libc,
    listenAddr: string,
    port: number,
    count: number,
    replyBytesMax: number,
  ): Result<ResponderSockets, string> {
    const endpoint = openUdpEndpoint(libc, listenAddr, port, count, replyBytesMax)
    return endpoint.ok ? ok(new ResponderSockets(libc, endpoint.value)) : endpoint
  }

  /**
   * Takes over sockets that another process has bound, and may still read. One that no thread is
   * left to read is closed: the process that handed it over reads what has arrived there.
   *
   * @param count how many threads there will be
   */
  static adopt(
    libc: Libc,
    listenAddr: string,
    fds: readonly number[],
    count: number,
    replyBytesMax: number,
  ): ResponderSockets {
    for (const fd of fds.slice(count)) libc.close(fd)
    const endpoint = adoptUdpEndpoint(libc, listenAddr, fds.slice(0, count), replyBytesMax)
    return new ResponderSockets(libc, endpoint)
  }

  private constructor(libc: Libc, endpoint: UdpEndpoint) {
    this.#libc = libc
    this.endpoint = endpoint
    assert(endpoint.fds.length > 0, 'one socket is bound from the beginning')
    this.#fds = [...endpoint.fds]
    this.#bound = new Set(endpoint.fds.keys())
  }

  /** The responders whose sockets get their share of the queries. */
  get bound(): ReadonlySet<number> {
    return this.#bound
  }

  /** Descriptors of the sockets that get queries, in no order. */
  get boundFds(): readonly number[] {
    return [...this.#bound].map((index) => this.fdOf(index))
  }

  /** A thread that follows a dead one gets its socket. @throws where there are no more sockets */
  fdOf(index: number): number {
    return (this.#fds[index] ??= openUdpSocket(this.#libc, this.endpoint))
  }

  /** Called when a thread reads there: what arrived before would wait for it. @throws */
  bind(index: number): void {
    if (this.#bound.has(index)) return
    bindUdpSocket(this.#libc, this.endpoint, this.fdOf(index))
    this.#bound.add(index)
  }

  close(): void {
    for (const fd of this.#fds) if (fd !== undefined) this.#libc.close(fd)
    this.#fds.length = 0
    this.#bound.clear()
  }
}
