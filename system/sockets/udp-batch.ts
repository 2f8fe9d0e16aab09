// Batched UDP: recvmmsg and sendmmsg over memory laid out once. Replies of a batch to the same
// client leave as one message, which the kernel segments.
import { Errno, Sys } from './libc.ts'
import type { Libc } from './libc.ts'
import type { PacketSource } from './packet-source.ts'
import type { UdpPlace } from './udp-socket.ts'

/**
 * Packets in a batch: enough to share the cost of a call. Linux frees a packet on the core that
 * made it, and interrupts that core once 32 are waiting: longer batches pay for interrupts what
 * they save in calls.
 */
const batchMax = 24
const cacheLineBytes = 64
/** struct mmsghdr on a 64-bit system, in 32-bit words; pointers take two. */
const Header = {
  Words: 16,
  Name: 0,
  NameBytes: 2,
  Iovecs: 4,
  IovecCount: 6,
  Control: 8,
  ControlBytes: 10,
  Length: 14,
} as const
/** struct iovec, in 32-bit words: the low half of its length. */
const Iovec = { Words: 4, LengthLow: 2 } as const
/** struct sockaddr_in and sockaddr_in6; CMSG_SPACE of in_pktinfo and in6_pktinfo. */
const sizes = {
  v4: { name: 16, address: 4, control: 32, ifindex: 16 },
  v6: { name: 28, address: 8, control: 40, ifindex: 32 },
} as const
/**
 * The control message that sets the segment size (struct cmsghdr and a 16-bit size), in 32-bit
 * words.
 */
const Segment = { Bytes: 24, Length: 18, Words: { Length: 0, Level: 2, Type: 3, Size: 4 } } as const
/** A segment must fit every path uncut (RFC 9715 section 3.1); a batch of them fits a packet. */
const segmentBytesMax = 1232
/** Names and control data of neighbouring packets do not share a cache line's half. */
const nameStride = 32
const controlStride = 64
/** Slots of `#byPort`, indexed by the low bits of a client's port. A power of two. */
const portSlots = 64
/** Words of a message: an iovec for each reply. */
const partsWords = batchMax * Iovec.Words

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
  readonly #nameWords = new Uint32Array(this.#names.buffer)
  readonly #control = new Uint32Array(new ArrayBuffer(batchMax * controlStride))
  readonly #iovecs = new Uint32Array(new ArrayBuffer(batchMax * Iovec.Words * 4))
  readonly #headers = new Uint32Array(new ArrayBuffer(batchMax * Header.Words * 4))
  /**
   * Messages to send, each with the replies to one client; each has room for all replies of a
   * batch.
   */
  readonly #messages = new Uint32Array(new ArrayBuffer(batchMax * Header.Words * 4))
  readonly #parts = new Uint32Array(new ArrayBuffer(batchMax * batchMax * Iovec.Words * 4))
  /** Octets of the reply in a slot; 0: none. */
  readonly #lengths = new Uint16Array(batchMax)
  /**
   * Addresses of the headers and messages. A number of that size is an object to V8: made for each
   * call, it would be the only thing that a responder leaves to the collector.
   */
  readonly #headersAddress: bigint
  readonly #messageAddresses: readonly bigint[]
  /**
   * By message: the slot of its first reply, its octets, and the octets of each part but the last.
   */
  readonly #firstSlots = new Uint8Array(batchMax)
  readonly #bytes = new Uint32Array(batchMax)
  readonly #segmentBytes = new Uint16Array(batchMax)
  /**
   * Number of the last message to a client whose port has these low bits, of this batch or an older
   * one.
   */
  readonly #byPort = new Uint8Array(portSlots)
  /**
   * Whether the kernel segments messages. Set to false for good when a network interface cannot
   * carry it.
   */
  #isJoining: boolean
  /** Failed receives in a row. */
  #failures = 0

  constructor(libc: Libc, { fd, endpoint }: UdpPlace) {
    const size = endpoint.isIpv6 ? sizes.v6 : sizes.v4
    this.#libc = libc
    this.#fd = fd
    this.#nameBytes = size.name
    this.#addressOffset = size.address
    this.clientBytes = endpoint.isIpv6 ? 16 : 4
    // On a socket bound to one address the kernel knows the source address of a reply.
    this.#controlBytes = endpoint.isWildcard ? size.control : 0
    this.#ifindexWord = size.ifindex / 4
    // An odd number of cache lines, so that the first octets of the slots spread over the cache.
    this.slotBytes = Math.ceil(Math.max(2048, endpoint.replyBytesMax) / 128) * 128 + cacheLineBytes
    this.buffer = new Uint8Array(new ArrayBuffer(batchMax * this.slotBytes))
    this.#headersAddress = libc.addressOf(this.#headers)
    const messages = libc.addressOf(this.#messages)
    this.#messageAddresses = Array.from(
      { length: batchMax },
      (_, message) => messages + BigInt(message * Header.Words * 4),
    )
    // UDP_SEGMENT needs Linux 4.18. The size 0 segments nothing, and shows whether the option
    // exists.
    this.#isJoining = libc.setsockopt(fd, Sys.SOL_UDP, Sys.UDP_SEGMENT, new Uint8Array(4), 4) === 0
    this.#layOut()
  }

  #layOut(): void {
    const libc = this.#libc
    const pointers = new BigUint64Array(this.#headers.buffer)
    const messages = new BigUint64Array(this.#messages.buffer)
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
      pointers[header + 4] = address(this.#control, slot * controlStride)
      pointers[header + 5] = BigInt(this.#controlBytes)
      messages[header + 1] = BigInt(this.#nameBytes)
      messages[header + 2] = address(this.#parts, slot * partsWords * 4)
      const segment = this.#segmentWord(slot)
      this.#control[segment + Segment.Words.Length] = Segment.Length
      this.#control[segment + Segment.Words.Level] = Sys.SOL_UDP
      this.#control[segment + Segment.Words.Type] = Sys.UDP_SEGMENT
    }
  }

  receive(): number {
    const { recvmmsg, errno } = this.#libc
    const count = recvmmsg(this.#fd, this.#headersAddress, batchMax, Sys.MSG_WAITFORONE, 0)
    if (count > 0) {
      this.#failures = 0
      return count
    }
    const code = errno()
    if (code === Errno.EAGAIN || code === Errno.EINTR) return 0
    // The cause is a pending ICMP error, or a closed socket, on which this loop would spin.
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

  clientPort(slot: number): number {
    const name = slot * nameStride
    return (this.#names[name + 2]! << 8) | this.#names[name + 3]!
  }

  queryLength(slot: number): number {
    // Port 0 cannot be replied to, and no honest client sends from it.
    const name = slot * nameStride
    if (this.#names[name + 2] === 0 && this.#names[name + 3] === 0) return 0
    return this.#headers[slot * Header.Words + Header.Length]!
  }

  /** Returns a copy of the client's address, followed by the control data, if there is any. */
  envelope(slot: number): Uint8Array {
    const copy = new Uint8Array(this.#nameBytes + this.#controlBytes)
    const name = slot * nameStride
    copy.set(this.#names.subarray(name, name + this.#nameBytes))
    // The reply may leave by another interface than the query came in by.
    if (this.#controlBytes > 0) this.#control[slot * (controlStride / 4) + this.#ifindexWord] = 0
    const control = new Uint8Array(this.#control.buffer, slot * controlStride, this.#controlBytes)
    copy.set(control, this.#nameBytes)
    return copy
  }

  setReply(slot: number, length: number): void {
    this.#lengths[slot] = length
    // The reply may leave by another interface than the query came in by.
    if (this.#controlBytes > 0) this.#control[slot * (controlStride / 4) + this.#ifindexWord] = 0
  }

  send(count: number): number {
    const messages = this.#join(count)
    let failed = 0
    let at = 0
    while (at < messages) {
      const sent = this.#libc.sendmmsg(this.#fd, this.#messageAddresses[at]!, messages - at, 0)
      if (sent > 0) {
        at += sent
        continue
      }
      const code = this.#libc.errno()
      if (code === Errno.EINTR) continue
      // The first message of the rest is the one that failed (a full queue, no route); its client
      // asks again.
      failed += this.#sendCut(at, code)
      at++
    }
    this.#restore(count)
    return failed
  }

  /**
   * Joins the replies in the first `count` slots to messages.
   * @returns the number of messages
   */
  #join(count: number): number {
    let messages = 0
    for (let slot = 0; slot < count; slot++) {
      const length = this.#lengths[slot]!
      if (length === 0) continue
      // An entry of an older batch names no message of this batch, or one to another client.
      const port = this.#names[slot * nameStride + 3]! & (portSlots - 1)
      const known = this.#byPort[port]!
      if (known < messages && this.#takes(known, slot, length)) {
        this.#add(known, slot, length)
      } else {
        this.#byPort[port] = messages
        this.#start(messages++, slot, length)
      }
    }
    return messages
  }

  /** Whether a message is to the client of a slot, and all its parts are as long as the first. */
  #takes(message: number, slot: number, length: number): boolean {
    const segmentBytes = this.#segmentBytes[message]!
    const parts = this.#messages[message * Header.Words + Header.IovecCount]!
    return (
      length <= segmentBytes &&
      this.#bytes[message] === parts * segmentBytes &&
      this.#isSameClient(this.#firstSlots[message]!, slot)
    )
  }

  /** Starts a message with one reply. */
  #start(message: number, slot: number, length: number): void {
    const to = message * Header.Words
    const from = slot * Header.Words
    const messages = this.#messages
    const headers = this.#headers
    messages[to + Header.Name] = headers[from + Header.Name]!
    messages[to + Header.Name + 1] = headers[from + Header.Name + 1]!
    messages[to + Header.IovecCount] = 1
    messages[to + Header.Control] = headers[from + Header.Control]!
    messages[to + Header.Control + 1] = headers[from + Header.Control + 1]!
    messages[to + Header.ControlBytes] = this.#controlBytes
    this.#firstSlots[message] = slot
    this.#bytes[message] = length
    this.#segmentBytes[message] = this.#isJoining && length <= segmentBytesMax ? length : 0
    this.#setPart(message * partsWords, slot, length)
  }

  /** Adds a reply to a message to the same client. */
  #add(message: number, slot: number, length: number): void {
    const at = message * Header.Words
    const parts = this.#messages[at + Header.IovecCount]!
    this.#setPart(message * partsWords + parts * Iovec.Words, slot, length)
    this.#bytes[message] = this.#bytes[message]! + length
    this.#messages[at + Header.IovecCount] = parts + 1
    this.#messages[at + Header.ControlBytes] = this.#controlBytes + Segment.Bytes
    const segment = this.#segmentWord(this.#firstSlots[message]!)
    this.#control[segment + Segment.Words.Size] = this.#segmentBytes[message]!
  }

  #setPart(part: number, slot: number, length: number): void {
    const iovec = slot * Iovec.Words
    this.#parts[part] = this.#iovecs[iovec]!
    this.#parts[part + 1] = this.#iovecs[iovec + 1]!
    this.#parts[part + Iovec.LengthLow] = length
  }

  /** Whether two slots came from one address and port, to one address of ours. */
  #isSameClient(a: number, b: number): boolean {
    const names = this.#nameWords
    const nameWords = this.#nameBytes / 4
    for (let word = 0; word < nameWords; word++) {
      if (names[(a * nameStride) / 4 + word] !== names[(b * nameStride) / 4 + word]) return false
    }
    const controlWords = this.#controlBytes / 4
    for (let word = 0; word < controlWords; word++) {
      const isSame =
        this.#control[(a * controlStride) / 4 + word] ===
        this.#control[(b * controlStride) / 4 + word]
      if (!isSame) return false
    }
    return true
  }

  /** Returns the position of a slot's segment-size control message, in words. */
  #segmentWord(slot: number): number {
    return (slot * controlStride + this.#controlBytes) / 4
  }

  /**
   * Handles a message that failed. If its route does not carry joined replies (a network card
   * without checksums, a tunnel), sends each reply alone, once, and joins no more.
   * @returns the number of replies that could not be sent
   */
  #sendCut(message: number, code: number): number {
    const at = message * Header.Words
    const replies = this.#messages[at + Header.IovecCount]!
    const isUncut = code === Errno.EIO || code === Errno.EINVAL || code === Errno.EMSGSIZE
    if (replies === 1 || !isUncut) return replies
    this.#messages[at + Header.IovecCount] = 1
    this.#messages[at + Header.ControlBytes] = this.#controlBytes
    const first = message * partsWords
    let failed = 0
    for (let reply = 0; reply < replies; reply++) {
      const part = first + reply * Iovec.Words
      this.#parts.copyWithin(first, part, part + Iovec.Words)
      if (this.#libc.sendmmsg(this.#fd, this.#messageAddresses[message]!, 1, 0) !== 1) failed++
    }
    // If every reply fails alone as well, joining was not the cause: this client cannot be reached.
    if (failed < replies) this.#isJoining = false
    return failed
  }

  /** Resets what the kernel has changed to what a receive needs. */
  #restore(count: number): void {
    for (let slot = 0; slot < count; slot++) {
      this.#headers[slot * Header.Words + Header.NameBytes] = this.#nameBytes
      this.#headers[slot * Header.Words + Header.ControlBytes] = this.#controlBytes
    }
  }
}
