// Sends single replies from a batched UDP socket, later than its batch and from another thread.
import type { Libc } from './libc.ts'
import type { LateSender } from './packet-source.ts'
import type { UdpPlace } from './udp-socket.ts'

/** struct msghdr on a 64-bit system, in words of 64 bits, and one struct iovec behind it. */
const Word = {
  Name: 0,
  NameBytes: 1,
  Iovec: 2,
  IovecCount: 3,
  Control: 4,
  ControlBytes: 5,
} as const
/** struct mmsghdr is a msghdr and a count. */
const headerWords = 8
const nameBytes = { v4: 16, v6: 28 } as const

/** For one thread; each call sends one message before it returns. */
export class UdpSender implements LateSender<UdpPlace> {
  readonly #libc: Libc
  readonly #words = new BigUint64Array(headerWords + 2)
  /** The kernel reads a name and control data at addresses that 8 divides. */
  readonly #name = new Uint8Array(32)
  readonly #control = new Uint8Array(64)

  constructor(libc: Libc) {
    this.#libc = libc
  }

  send({ fd, endpoint }: UdpPlace, envelope: Uint8Array, reply: Uint8Array): boolean {
    const libc = this.#libc
    const words = this.#words
    const split = endpoint.isIpv6 ? nameBytes.v6 : nameBytes.v4
    this.#name.set(envelope.subarray(0, split))
    this.#control.set(envelope.subarray(split))
    const address = libc.addressOf(words)
    const controlBytes = envelope.length - split
    words[Word.Name] = libc.addressOf(this.#name)
    words[Word.NameBytes] = BigInt(split)
    words[Word.Iovec] = address + BigInt(headerWords * 8)
    words[Word.IovecCount] = 1n
    words[Word.Control] = controlBytes === 0 ? 0n : libc.addressOf(this.#control)
    words[Word.ControlBytes] = BigInt(controlBytes)
    words[Word.ControlBytes + 1] = 0n
    words[headerWords] = libc.addressOf(reply)
    words[headerWords + 1] = BigInt(reply.length)
    return libc.sendmmsg(fd, address, 1, 0) === 1
  }
}
