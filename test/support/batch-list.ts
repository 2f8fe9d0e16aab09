// A source of packets that is no socket.
import type { PacketSource } from '#system/sockets/packet-source.ts'

const slotBytes = 2_048
const slots = 64

/** Hands out batches of queries one after the other and keeps what is sent. */
export class BatchList implements PacketSource {
  readonly buffer = new Uint8Array(slots * slotBytes)
  readonly slotBytes = slotBytes
  readonly clients = new Uint8Array(slots * 4)
  readonly clientBytes = 4
  readonly sent: Buffer[] = []
  readonly #batches: (readonly Buffer[])[]
  readonly #atEnd: () => void
  #queries: readonly Buffer[] = []
  #replyBytes: number[] = []

  constructor(batches: readonly (readonly Buffer[])[], atEnd: () => void = () => undefined) {
    this.#batches = [...batches]
    this.#atEnd = atEnd
  }

  receive(): number {
    const next = this.#batches.shift()
    if (next === undefined) this.#atEnd()
    this.#queries = next ?? []
    for (const [slot, packet] of this.#queries.entries()) {
      this.buffer.set(packet, this.slotOffset(slot))
    }
    return this.#queries.length
  }

  slotOffset(slot: number): number {
    return slot * slotBytes
  }

  clientOffset(slot: number): number {
    return slot * 4
  }

  clientPort(): number {
    return 5_353
  }

  queryLength(slot: number): number {
    return this.#queries[slot]!.length
  }

  envelope(): Uint8Array {
    return this.clients.slice(0, 4)
  }

  setReply(slot: number, length: number): void {
    this.#replyBytes[slot] = length
  }

  send(count: number): number {
    for (let slot = 0; slot < count; slot++) {
      const at = this.slotOffset(slot)
      this.sent.push(Buffer.from(this.buffer.subarray(at, at + this.#replyBytes[slot]!)))
    }
    return 0
  }
}
