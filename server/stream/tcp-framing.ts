// Splits a TCP stream into messages: two octets of length, then the message (RFC 1035 section
// 4.2.2).
import { tcpMessageBytesMax } from './tcp-limits.ts'

const carryBytesMin = 512
const carryBytesKept = 4_096
const nothing = new Uint8Array(0)

/**
 * Cuts one client's stream into messages, wherever the segments split it. Holds at most one chunk
 * and one unfinished message; the memory it takes follows the bytes that came, never the length
 * that a client announced.
 */
export class MessageReader {
  #chunk: Uint8Array = nothing
  #offset = 0
  /** An unfinished message with its length prefix. */
  #carry: Uint8Array = nothing
  #carried = 0

  /** Takes the next bytes of the stream. Every message of the chunk before must have been read. */
  push(chunk: Uint8Array): void {
    this.#chunk = chunk
    this.#offset = 0
  }

  /** True when the stream stopped inside a message. Meaningful after `next` said -1. */
  get isPartial(): boolean {
    return this.#carried > 0
  }

  /**
   * Copies the next whole message to the start of `into` (65,535 bytes).
   *
   * @returns its length in bytes, or -1 when the rest has not come yet
   */
  next(into: Uint8Array): number {
    return this.#carried > 0 ? this.#nextFromCarry(into) : this.#nextFromChunk(into)
  }

  #nextFromChunk(into: Uint8Array): number {
    const available = this.#chunk.length - this.#offset
    const wanted = available < 2 ? 2 : 2 + this.#lengthAt(this.#chunk, this.#offset)
    if (available < wanted) {
      this.#keep(available)
      return -1
    }
    into.set(this.#chunk.subarray(this.#offset + 2, this.#offset + wanted))
    this.#offset += wanted
    return wanted - 2
  }

  #nextFromCarry(into: Uint8Array): number {
    if (this.#carried < 2)
      this.#keep(Math.min(2 - this.#carried, this.#chunk.length - this.#offset))
    if (this.#carried < 2) return -1
    const wanted = 2 + this.#lengthAt(this.#carry, 0)
    this.#keep(Math.min(wanted - this.#carried, this.#chunk.length - this.#offset))
    if (this.#carried < wanted) return -1
    into.set(this.#carry.subarray(2, wanted))
    this.#carried = 0
    if (this.#carry.length > carryBytesKept) this.#carry = nothing
    return wanted - 2
  }

  /** Moves `count` bytes from the chunk to the carry, and lets go of a chunk that is used up. */
  #keep(count: number): void {
    const total = this.#carried + count
    if (total > this.#carry.length) {
      const capacity = Math.min(Math.max(carryBytesMin, total * 2), tcpMessageBytesMax + 2)
      const larger = new Uint8Array(capacity)
      larger.set(this.#carry.subarray(0, this.#carried))
      this.#carry = larger
    }
    this.#carry.set(this.#chunk.subarray(this.#offset, this.#offset + count), this.#carried)
    this.#carried = total
    this.#offset += count
    if (this.#offset === this.#chunk.length) this.push(nothing)
  }

  #lengthAt(bytes: Uint8Array, offset: number): number {
    return ((bytes[offset] as number) << 8) | (bytes[offset + 1] as number)
  }
}

/** Replies of one turn, each behind its length prefix, so that they leave in one write. */
export class ReplyBatch {
  readonly bytes = new Uint8Array(tcpMessageBytesMax + 2)
  used = 0

  /** Where the first message of an empty batch is written, if not by `append`. */
  get message(): Uint8Array {
    return this.bytes.subarray(2)
  }

  /** The batch is that message, of so many octets. */
  endMessage(length: number): void {
    this.bytes[0] = length >>> 8
    this.bytes[1] = length & 0xff
    this.used = 2 + length
  }

  /** @returns false when there is no room until the batch was written */
  append(reply: Uint8Array, length: number): boolean {
    if (this.used + 2 + length > this.bytes.length) return false
    this.bytes[this.used] = length >>> 8
    this.bytes[this.used + 1] = length & 0xff
    this.bytes.set(reply.subarray(0, length), this.used + 2)
    this.used += 2 + length
    return true
  }
}

/** Batches that no write holds. Grows to what slow clients hold at once, keeps a few. */
export class ReplyBatchPool {
  readonly #free: ReplyBatch[] = []
  readonly #freeMax = 32

  take(): ReplyBatch {
    return this.#free.pop() ?? new ReplyBatch()
  }

  give(batch: ReplyBatch): void {
    batch.used = 0
    if (this.#free.length < this.#freeMax) this.#free.push(batch)
  }
}
