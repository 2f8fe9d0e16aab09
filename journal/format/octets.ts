// Writes octets to a growing buffer, and reads them without going beyond the end.

export class OctetWriter {
  #bytes: Buffer
  length = 0

  constructor(capacity = 256) {
    this.#bytes = Buffer.allocUnsafe(capacity)
  }

  u8(value: number): void {
    this.#reserve(1)
    this.#bytes[this.length++] = value
  }

  /**
   * Writes LEB128: seven bits an octet, the lowest first.
   *
   * @param value an integer from 0 to 2^53 - 1
   */
  varint(value: number): void {
    this.#reserve(8)
    let rest = value
    while (rest > 0x7f) {
      this.#bytes[this.length++] = (rest % 0x80) | 0x80
      rest = Math.floor(rest / 0x80)
    }
    this.#bytes[this.length++] = rest
  }

  f32(value: number): void {
    this.#reserve(4)
    this.length = this.#bytes.writeFloatLE(value, this.length)
  }

  f64(value: number): void {
    this.#reserve(8)
    this.length = this.#bytes.writeDoubleLE(value, this.length)
  }

  raw(octets: Uint8Array): void {
    this.#reserve(octets.length)
    this.#bytes.set(octets, this.length)
    this.length += octets.length
  }

  text(value: string): void {
    const octets = Buffer.from(value)
    this.varint(octets.length)
    this.raw(octets)
  }

  /** Returns a copy, and empties the writer. */
  take(): Buffer {
    const taken = Buffer.from(this.#bytes.subarray(0, this.length))
    this.length = 0
    return taken
  }

  #reserve(more: number): void {
    if (this.length + more <= this.#bytes.length) return
    const larger = Buffer.allocUnsafe(Math.max(this.#bytes.length * 2, this.length + more))
    this.#bytes.copy(larger, 0, 0, this.length)
    this.#bytes = larger
  }
}

/** Octets that end too soon, or a number that is too large, set `isBad`; the value is 0. */
export class OctetReader {
  readonly #bytes: Buffer
  #at: number
  isBad = false

  constructor(bytes: Buffer, at = 0) {
    this.#bytes = bytes
    this.#at = at
  }

  get isAtEnd(): boolean {
    return this.isBad || this.#at >= this.#bytes.length
  }

  u8(): number {
    const at = this.#take(1)
    return this.isBad ? 0 : this.#bytes[at]!
  }

  varint(): number {
    let value = 0
    for (let scale = 1; scale < 2 ** 53; scale *= 0x80) {
      const octet = this.u8()
      value += (octet & 0x7f) * scale
      if (octet < 0x80) return value
    }
    this.isBad = true
    return 0
  }

  f32(): number {
    const at = this.#take(4)
    return this.isBad ? 0 : this.#bytes.readFloatLE(at)
  }

  f64(): number {
    const at = this.#take(8)
    return this.isBad ? 0 : this.#bytes.readDoubleLE(at)
  }

  raw(count: number): Buffer {
    const at = this.#take(count)
    return this.isBad ? Buffer.alloc(0) : this.#bytes.subarray(at, at + count)
  }

  text(): string {
    return this.raw(this.varint()).toString('utf8')
  }

  rest(): Buffer {
    const at = this.#at
    this.#at = this.#bytes.length
    return this.#bytes.subarray(at)
  }

  #take(count: number): number {
    const at = this.#at
    if (this.isBad || count > this.#bytes.length - at) {
      this.isBad = true
      return 0
    }
    this.#at += count
    return at
  }
}
