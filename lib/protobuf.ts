// Encodes and decodes the part of protocol buffers that dnstap and gRPC health checks need: fields
// with a number and a kind.

/** Low three bits of a tag. */
const WireType = { Varint: 0, Fixed64: 1, Bytes: 2, Fixed32: 5 } as const

/** Appends fields to a buffer of fixed size. */
export class FieldWriter {
  readonly #octets: Buffer
  #at = 0
  /** True: something did not fit, so the octets are useless. */
  isFull = false

  constructor(bytes: number) {
    this.#octets = Buffer.alloc(bytes)
  }

  /** A view of what was written since `clear`. */
  get octets(): Buffer {
    return this.#octets.subarray(0, this.#at)
  }

  clear(): this {
    this.#at = 0
    this.isFull = false
    return this
  }

  /** @param value a whole number from 0 to 2^53 - 1 */
  number(field: number, value: number): this {
    this.#varint(field * 8 + WireType.Varint)
    return this.#varint(value)
  }

  fixed32(field: number, value: number): this {
    this.#varint(field * 8 + WireType.Fixed32)
    if (!this.#hasRoom(4)) return this
    this.#at = this.#octets.writeUInt32LE(value, this.#at)
    return this
  }

  bytes(field: number, value: Uint8Array): this {
    this.#varint(field * 8 + WireType.Bytes)
    this.#varint(value.length)
    if (!this.#hasRoom(value.length)) return this
    this.#octets.set(value, this.#at)
    this.#at += value.length
    return this
  }

  #varint(value: number): this {
    let rest = value
    do {
      if (!this.#hasRoom(1)) return this
      const low = rest % 128
      rest = Math.floor(rest / 128)
      this.#octets[this.#at++] = rest > 0 ? low | 0x80 : low
    } while (rest > 0)
    return this
  }

  #hasRoom(bytes: number): boolean {
    if (this.#at + bytes > this.#octets.length) this.isFull = true
    return !this.isFull
  }
}

/** Fields of a message: the last value of each, as the encoding requires. */
export interface Fields {
  /** Varints. One above 2^53 - 1 is treated as absent. */
  readonly numbers: ReadonlyMap<number, number>
  readonly fixed32: ReadonlyMap<number, number>
  /** Views of the message. */
  readonly bytes: ReadonlyMap<number, Uint8Array>
}

/** A varint of 64 bits has at most ten octets. */
const varintBytesMax = 10
const fieldMax = 2 ** 29 - 1

/**
 * Reads all fields of an untrusted message; those of 64 bits are skipped.
 *
 * @returns undefined: it is malformed
 */
export function readFields(message: Uint8Array): Fields | undefined {
  const numbers = new Map<number, number>()
  const fixed32 = new Map<number, number>()
  const bytes = new Map<number, Uint8Array>()
  const reader = new FieldReader(message)
  while (!reader.isAtEnd) {
    const tag = reader.varint()
    const field = Math.floor(tag / 8)
    if (!(field >= 1 && field <= fieldMax)) return undefined
    const type = tag % 8
    if (type === WireType.Varint) setOrDrop(numbers, field, reader.varint())
    else if (type === WireType.Fixed32) fixed32.set(field, reader.fixed32())
    else if (type === WireType.Fixed64) reader.take(8)
    else if (type === WireType.Bytes) bytes.set(field, reader.take(reader.varint()))
    else return undefined
    if (reader.hasFailed) return undefined
  }
  return { numbers, fixed32, bytes }
}

/** Not the earlier value: the last one counts, and a wrong number would be worse than none. */
function setOrDrop(numbers: Map<number, number>, field: number, value: number): void {
  if (Number.isNaN(value)) numbers.delete(field)
  else numbers.set(field, value)
}

const nothing = new Uint8Array(0)

/** Each step advances or fails. */
class FieldReader {
  readonly #octets: Uint8Array
  #at = 0
  hasFailed = false

  constructor(octets: Uint8Array) {
    this.#octets = octets
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#octets.length
  }

  /** @returns NaN: above 2^53 - 1; or the end was reached, which fails */
  varint(): number {
    let value = 0
    for (let i = 0; i < varintBytesMax; i++) {
      const octet = this.#octets[this.#at++]
      if (octet === undefined) break
      value += (octet & 0x7f) * 128 ** i
      if (octet < 0x80) return Number.isSafeInteger(value) ? value : Number.NaN
    }
    this.hasFailed = true
    return Number.NaN
  }

  fixed32(): number {
    const octets = this.take(4)
    return octets.length < 4 ? Number.NaN : Buffer.from(octets).readUInt32LE(0)
  }

  take(count: number): Uint8Array {
    const end = this.#at + count
    // Also when the length is no number.
    if (!(end <= this.#octets.length)) {
      this.hasFailed = true
      return nothing
    }
    const taken = this.#octets.subarray(this.#at, end)
    this.#at = end
    return taken
  }
}
