// Writes and reads rdata octet by octet.
import { nameLimits } from '#dns/name.ts'

/** RDLENGTH has sixteen bits. RFC 1035 section 3.2.1. */
export const rdataBytesMax = 65_535

export class OctetWriter {
  #octets = new Uint8Array(64)
  length = 0

  /** The last octet written. */
  get last(): number | undefined {
    return this.length === 0 ? undefined : this.#octets[this.length - 1]
  }

  /** The first two octets as a number. */
  get leading16(): number {
    return this.#octets[0]! * 256 + this.#octets[1]!
  }

  /** Empties the writer; copies taken before stay as they are. */
  reset(): void {
    this.length = 0
  }

  /** @param bytes 1, 2 or 4 */
  number(value: number, bytes: number): void {
    for (let shift = (bytes - 1) * 8; shift >= 0; shift -= 8) this.#push((value >>> shift) & 255)
  }

  /** Writes at most one octet more than an rdata can have: `length` then shows the excess. */
  octets(octets: Uint8Array): void {
    for (const octet of octets) {
      if (this.length > rdataBytesMax) return
      this.#push(octet)
    }
  }

  /** Writes characters of ASCII with the same limit. */
  ascii(text: string): void {
    for (let i = 0; i < text.length && this.length <= rdataBytesMax; i++) {
      this.#push(text.charCodeAt(i))
    }
  }

  done(): Uint8Array {
    return this.#octets.slice(0, this.length)
  }

  #push(octet: number): void {
    if (this.length === this.#octets.length) {
      const grown = new Uint8Array(this.length * 2)
      grown.set(this.#octets)
      this.#octets = grown
    }
    this.#octets[this.length++] = octet
  }
}

/**
 * After the first wrong or missing octet every read gives empty values; check `isBad` at the end.
 */
export class OctetReader {
  isBad = false
  /** Offsets of the names read so far. */
  readonly nameOffsets: number[] = []
  readonly #octets: Uint8Array
  #at = 0

  constructor(octets: Uint8Array) {
    this.#octets = octets
  }

  get left(): number {
    return this.isBad ? 0 : this.#octets.length - this.#at
  }

  /** The last octet read. */
  get last(): number | undefined {
    return this.#octets[this.#at - 1]
  }

  /** The first two octets as a number; undefined when they are not there. */
  get leading16(): number | undefined {
    const [high, low] = this.#octets
    return high === undefined || low === undefined ? undefined : high * 256 + low
  }

  number(bytes: number): number {
    if (this.left < bytes) this.isBad = true
    if (this.isBad) return 0
    let value = 0
    for (const end = this.#at + bytes; this.#at < end; this.#at++) {
      value = value * 256 + this.#octets[this.#at]!
    }
    return value
  }

  take(bytes: number): Uint8Array {
    if (this.left < bytes) this.isBad = true
    if (this.isBad) return new Uint8Array(0)
    this.#at += bytes
    return this.#octets.subarray(this.#at - bytes, this.#at)
  }

  rest(): Uint8Array {
    return this.take(this.left)
  }

  /** One length octet and as many octets. RFC 1035 section 3.3. */
  string(): Uint8Array {
    return this.take(this.number(1))
  }

  /** An uncompressed name in wire form; the root when there is no valid name. */
  name(): Uint8Array {
    const start = this.#at
    let end = start
    for (;;) {
      const length = this.#octets[end]
      const isLabel = length !== undefined && length <= nameLimits.labelBytesMax
      if (!isLabel || end + 1 - start > nameLimits.bytesMax) this.isBad = true
      if (this.isBad) return new Uint8Array(1)
      end += length! + 1
      if (length === 0) break
    }
    this.nameOffsets.push(start)
    return this.take(end - start)
  }

  fail(): '' {
    this.isBad = true
    return ''
  }
}
