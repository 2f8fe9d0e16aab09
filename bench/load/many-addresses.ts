// One UDP socket that sends from many addresses and receives for all of them, many packets a call:
// any address of 127.0.0.0/8 is of this machine, and a packet may say which one it is from.
import { Sys } from '#system/sockets/libc.ts'
import type { Libc } from '#system/sockets/libc.ts'

export const batchMax = 32
export const slotBytes = 512
/** MSG_DONTWAIT of Linux. */
const dontWait = 0x40
/** MSG_TRUNC: the length of a packet is its own, also where the slot is shorter. */
const wholeLength = 0x20
/** Bursts of replies wait here; the kernel may give less (net.core.rmem_max). */
const receiveBufferBytes = 4 << 20
/** CMSG_SPACE of in_pktinfo, and where the address to send from stands in it. */
const controlBytes = 32
const senderAt = 20

export class ManyAddresses {
  readonly slots = new Uint8Array(new ArrayBuffer(batchMax * slotBytes))
  /** Octets received, by slot. */
  readonly lengthOf: (slot: number) => number
  readonly #libc: Libc
  readonly #fd: number
  readonly #name: Uint8Array
  readonly #control = new Uint8Array(new ArrayBuffer(batchMax * controlBytes))
  readonly #senders = new DataView(this.#control.buffer)
  /** Octets to send, by slot. */
  readonly #lengths: Uint32Array
  readonly #out: Messages
  readonly #in: Messages

  /** @param port of 127.0.0.1, to which all is sent */
  constructor(libc: Libc, port: number) {
    this.#libc = libc
    this.#fd = libc.socket(Sys.AF_INET, Sys.SOCK_DGRAM | Sys.SOCK_CLOEXEC, 0)
    const timeout = new Uint8Array(new BigInt64Array([0n, 100_000n]).buffer)
    libc.setsockopt(this.#fd, Sys.SOL_SOCKET, Sys.SO_RCVTIMEO, timeout, timeout.length)
    const bytes = new Uint8Array(new Int32Array([receiveBufferBytes]).buffer)
    libc.setsockopt(this.#fd, Sys.SOL_SOCKET, Sys.SO_RCVBUF, bytes, bytes.length)
    const target = [2, 0, port >> 8, port & 255, 127, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0]
    this.#name = Uint8Array.from(target)
    for (let at = 0; at < this.#control.length; at += controlBytes) {
      // struct cmsghdr, and in_pktinfo: the interface, the address to send from.
      this.#senders.setBigUint64(at, BigInt(controlBytes - 4), true)
      this.#senders.setInt32(at + 8, Sys.SOL_IP, true)
      this.#senders.setInt32(at + 12, Sys.IP_PKTINFO, true)
    }
    const around = { name: this.#name, control: this.#control }
    this.#out = messagesIn(libc, this.slots, around)
    this.#lengths = new Uint32Array(this.#out.iovecs.buffer)
    this.#in = messagesIn(libc, this.slots)
    const words = new Uint32Array(this.#in.headers.buffer)
    this.lengthOf = (slot) => words[slot * 16 + 14]!
  }

  /** Puts a query into a slot. */
  set(slot: number, query: Uint8Array): void {
    this.slots.set(query, slot * slotBytes)
    this.#lengths[slot * 4 + 2] = query.length
  }

  /** @param address of 127.0.0.0/8, as one number */
  setSender(slot: number, address: number): void {
    this.#senders.setInt32(slot * controlBytes + senderAt, address)
  }

  send(count: number): number {
    return Math.max(0, this.#libc.sendmmsg(this.#fd, this.#out.address, count, 0))
  }

  /** @param isPatient waits a tenth of a second for the first one */
  receive(isPatient: boolean): number {
    const { address } = this.#in
    const flags = wholeLength | (isPatient ? Sys.MSG_WAITFORONE : dontWait)
    return Math.max(0, this.#libc.recvmmsg(this.#fd, address, batchMax, flags, 0))
  }
}

/** An array of struct mmsghdr, and what it points to. */
interface Messages {
  readonly headers: BigUint64Array<ArrayBuffer>
  readonly iovecs: BigUint64Array<ArrayBuffer>
  readonly address: bigint
}

/** @param around left out: nobody asks from where, or says it */
function messagesIn(
  libc: Libc,
  slots: Uint8Array,
  around?: { readonly name: Uint8Array; readonly control: Uint8Array },
): Messages {
  const iovecs = new BigUint64Array(new ArrayBuffer(batchMax * 16))
  const headers = new BigUint64Array(new ArrayBuffer(batchMax * 64))
  for (let slot = 0; slot < batchMax; slot++) {
    iovecs.set([libc.addressOf(slots) + BigInt(slot * slotBytes), BigInt(slotBytes)], slot * 2)
    const iovec = libc.addressOf(iovecs) + BigInt(slot * 16)
    headers.set([0n, 0n, iovec, 1n], slot * 8)
    if (around === undefined) continue
    headers.set([libc.addressOf(around.name), 16n], slot * 8)
    const control = libc.addressOf(around.control) + BigInt(slot * controlBytes)
    headers.set([control, BigInt(controlBytes)], slot * 8 + 4)
  }
  return { headers, iovecs, address: libc.addressOf(headers) }
}
