// A socket read and written many packets a call: recvmmsg and sendmmsg over memory laid out once.
import { Errno, Sys } from './libc.ts'
import type { Libc } from './libc.ts'
import type { PacketSource } from './packet-source.ts'
import type { UdpEndpoint } from './udp-socket.ts'

/**
 * Enough to share the cost of a call. Linux frees a packet on the core that made it, and interrupts
 * that core once 32 are waiting: longer batches pay for interrupts what they save in calls.
 */
const batchMax = 24
const cacheLineBytes = 64
/** struct mmsghdr on a 64-bit system, in 32-bit words. */
const Header = { Words: 16, NameBytes: 2, ControlBytes: 10, Length: 14 } as const
/** struct iovec, in 32-bit words: the low half of its length. */
const Iovec = { Words: 4, LengthLow: 2 } as const
/** struct sockaddr_in and sockaddr_in6; CMSG_SPACE of in_pktinfo and in6_pktinfo. */
const sizes = {
  v4: { name: 16, address: 4, control: 32, ifindex: 16 },
  v6: { name: 28, address: 8, control: 40, ifindex: 32 },
} as const
/** Names and control data of neighbouring packets do not share a cache line's half. */
const nameStride = 32
const controlStride = 64

export class UdpBatch implements PacketSource {
  readonly buffer: Uint8Array
  readonly slotBytes: number
  readonly clientBytes: number
  readonly #libc: Libc
  readonly #fd: number
  readonly #nameBytes: number
  readonly #addressOffset: number
  readonly #controlBytes: number
  readonly #ifindexWord: number
  readonly #names = new Uint8Array(new ArrayBuffer(batchMax * nameStride))
  readonly #control = new Uint32Array(new ArrayBuffer(batchMax * controlStride))
  readonly #iovecs = new Uint32Array(new ArrayBuffer(batchMax * Iovec.Words * 4))
  readonly #headers = new Uint32Array(new ArrayBuffer(batchMax * Header.Words * 4))
  /**
   * Address of each slot's header. A number of that size is an object to V8: made for each call, it
   * would be the only thing that a responder leaves to the collector.
   */
  readonly #headerAddresses: readonly bigint[]
  /** Failed receives in a row. */
  #failures = 0

  /** @param replyBytesMax the longest reply that will be written */
  constructor(libc: Libc, fd: number, endpoint: UdpEndpoint, replyBytesMax: number) {
    const size = endpoint.isIpv6 ? sizes.v6 : sizes.v4
    this.#libc = libc
    this.#fd = fd
    this.#nameBytes = size.name
    this.#addressOffset = size.address
    this.clientBytes = endpoint.isIpv6 ? 16 : 4
    // Bound to one address, the kernel knows where a reply comes from; it need not be told.
    this.#controlBytes = endpoint.isWildcard ? size.control : 0
    this.#ifindexWord = size.ifindex / 4
    // An odd number of cache lines, so that the first octets of the slots spread over the cache.
    this.slotBytes = Math.ceil(Math.max(2048, replyBytesMax) / 128) * 128 + cacheLineBytes
    this.buffer = new Uint8Array(new ArrayBuffer(batchMax * this.slotBytes))
    const headers = libc.addressOf(this.#headers)
    this.#headerAddresses = Array.from(
      { length: batchMax },
      (_, slot) => headers + BigInt(slot * Header.Words * 4),
    )
    this.#layOut()
  }

  #layOut(): void {
    const libc = this.#libc
    const pointers = new BigUint64Array(this.#headers.buffer)
    const iovecs = new BigUint64Array(this.#iovecs.buffer)
    const address = (view: ArrayBufferView, offset: number): bigint =>
      libc.addressOf(view) + BigInt(offset)
    for (let slot = 0; slot < batchMax; slot++) {
      iovecs[slot * 2] = address(this.buffer, slot * this.slotBytes)
      iovecs[slot * 2 + 1] = BigInt(this.slotBytes)
      const header = slot * 8
      pointers[header] = address(this.#names, slot * nameStride)
      pointers[header + 1] = BigInt(this.#nameBytes)
      pointers[header + 2] = address(this.#iovecs, slot * Iovec.Words * 4)
      pointers[header + 3] = 1n
      if (this.#controlBytes > 0)
        pointers[header + 4] = address(this.#control, slot * controlStride)
      pointers[header + 5] = BigInt(this.#controlBytes)
    }
  }

  receive(): number {
    const { recvmmsg, errno } = this.#libc
    const count = recvmmsg(this.#fd, this.#headerAddresses[0]!, batchMax, Sys.MSG_WAITFORONE, 0)
    if (count > 0) {
      this.#failures = 0
      return count
    }
    const code = errno()
    if (code === Errno.EAGAIN || code === Errno.EINTR) return 0
    // A pending ICMP error, or a socket that is gone: the second would spin.
    if (++this.#failures > 1000) throw new Error(`recvmmsg fails again and again: errno ${code}`)
    return 0
  }

  slotOffset(slot: number): number {
    return slot * this.slotBytes
  }

  get clients(): Uint8Array {
    return this.#names
  }

  clientOffset(slot: number): number {
    return slot * nameStride + this.#addressOffset
  }

  queryLength(slot: number): number {
    // Port 0 cannot be replied to; nobody honest sends from it.
    const name = slot * nameStride
    if (this.#names[name + 2] === 0 && this.#names[name + 3] === 0) return 0
    return this.#headers[slot * Header.Words + Header.Length]!
  }

  setReply(slot: number, length: number): void {
    this.#iovecs[slot * Iovec.Words + Iovec.LengthLow] = length
    // The reply may leave by another interface than the query came in by.
    if (this.#controlBytes > 0) this.#control[slot * (controlStride / 4) + this.#ifindexWord] = 0
  }

  send(count: number): number {
    let failed = 0
    let start = 0
    while (start < count) {
      if (this.#iovecs[start * Iovec.Words + Iovec.LengthLow] === 0) {
        start++
        continue
      }
      let end = start + 1
      while (end < count && this.#iovecs[end * Iovec.Words + Iovec.LengthLow] !== 0) end++
      failed += this.#sendRun(start, end)
      start = end
    }
    this.#restore(count)
    return failed
  }

  /** @returns how many of the slots from `start` up to `end` could not be sent */
  #sendRun(start: number, end: number): number {
    let failed = 0
    let at = start
    while (at < end) {
      const address = this.#headerAddresses[at]!
      const sent = this.#libc.sendmmsg(this.#fd, address, end - at, 0)
      if (sent > 0) {
        at += sent
      } else if (this.#libc.errno() !== Errno.EINTR) {
        // The first of them is the one that failed (a full queue, no route): the client will ask
        // again.
        at++
        failed++
      }
    }
    return failed
  }

  /** What the kernel and the replies have changed goes back to what a receive needs. */
  #restore(count: number): void {
    for (let slot = 0; slot < count; slot++) {
      this.#iovecs[slot * Iovec.Words + Iovec.LengthLow] = this.slotBytes
      this.#headers[slot * Header.Words + Header.NameBytes] = this.#nameBytes
      this.#headers[slot * Header.Words + Header.ControlBytes] = this.#controlBytes
    }
  }
}
