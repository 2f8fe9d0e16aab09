// Which range of addresses holds a client's.
import { assert } from '#lib/assert.ts'
import { RangeHeader, rangeLayout, rangeMagic } from './range-layout.ts'

export { buildRangeTable } from './range-table-builder.ts'

/**
 * Rows cover all addresses of a family without a gap, in order; neighbours have different values.
 * An address that the input did not name lies in a row of value 0. IPv4-mapped IPv6 addresses are
 * IPv4 addresses (RFC 4291 section 2.5.5.2): the caller looks them up as such.
 *
 * Addresses and words may be given signed or unsigned: an unsigned one above 2^31 is an object
 * where the call is not inlined. What comes back is unsigned.
 */
export class RangeTable {
  readonly count4: number
  readonly count6: number
  readonly #shift4: number
  readonly #shift6: number
  /** By leading bits of an address: the row that holds the first address with these bits. */
  readonly #index4: Uint32Array
  readonly #index6: Uint32Array
  readonly #start4: Uint32Array
  readonly #start6w0: Uint32Array
  readonly #start6w1: Uint32Array
  readonly #start6w2: Uint32Array
  readonly #start6w3: Uint32Array
  readonly #value4: Uint32Array
  readonly #value6: Uint32Array

  /** @param buffer what `buildRangeTable` gave, also when it lies inside another buffer */
  constructor(buffer: ArrayBufferLike, byteOffset = 0) {
    const header = new Uint32Array(buffer, byteOffset, RangeHeader.Words)
    assert(header[RangeHeader.Magic] === rangeMagic, 'a range table begins with its magic number')
    this.count4 = header[RangeHeader.Count4]!
    this.count6 = header[RangeHeader.Count6]!
    const bits4 = header[RangeHeader.IndexBits4]!
    const bits6 = header[RangeHeader.IndexBits6]!
    const at = rangeLayout(this.count4, this.count6, bits4, bits6)
    const createColumn = (offset: number, length: number): Uint32Array =>
      new Uint32Array(buffer, byteOffset + offset, length)
    this.#shift4 = 32 - bits4
    this.#shift6 = 32 - bits6
    this.#index4 = createColumn(at.index4, 2 ** bits4 + 1)
    this.#index6 = createColumn(at.index6, 2 ** bits6 + 1)
    this.#start4 = createColumn(at.start4, this.count4)
    this.#start6w0 = createColumn(at.start6[0], this.count6)
    this.#start6w1 = createColumn(at.start6[1], this.count6)
    this.#start6w2 = createColumn(at.start6[2], this.count6)
    this.#start6w3 = createColumn(at.start6[3], this.count6)
    this.#value4 = createColumn(at.value4, this.count4)
    this.#value6 = createColumn(at.value6, this.count6)
  }

  /** The row of the range that holds an IPv4 address. */
  find4(address: number): number {
    const wanted = address >>> 0
    const starts = this.#start4
    const bucket = wanted >>> this.#shift4
    let low = this.#index4[bucket]!
    let high = this.#index4[bucket + 1]!
    while (low < high) {
      const middle = (low + high + 1) >>> 1
      if (starts[middle]! <= wanted) low = middle
      else high = middle - 1
    }
    return low
  }

  /** The row of the range that holds an IPv6 address; `w0` is its most significant word. */
  find6(w0: number, w1: number, w2: number, w3: number): number {
    const wanted = w0 >>> 0
    const starts = this.#start6w0
    const bucket = wanted >>> this.#shift6
    let low = this.#index6[bucket]!
    let high = this.#index6[bucket + 1]!
    while (low < high) {
      const middle = (low + high + 1) >>> 1
      const start = starts[middle]!
      if (start < wanted || (start === wanted && this.#restIsAtMost(middle, w1, w2, w3))) {
        low = middle
      } else high = middle - 1
    }
    return low
  }

  value4(row: number): number {
    return this.#value4[row]!
  }

  value6(row: number): number {
    return this.#value6[row]!
  }

  /** The first address of a row, for messages and traces. */
  start4(row: number): number {
    return this.#start4[row]!
  }

  /** Word 0 to 3 of the first address of a row. */
  start6(row: number, word: number): number {
    if (word === 0) return this.#start6w0[row]!
    if (word === 1) return this.#start6w1[row]!
    return word === 2 ? this.#start6w2[row]! : this.#start6w3[row]!
  }

  /** Where the first words are equal: does the row begin at or before the address? */
  #restIsAtMost(row: number, w1: number, w2: number, w3: number): boolean {
    const s1 = this.#start6w1[row]!
    if (s1 !== w1 >>> 0) return s1 < w1 >>> 0
    const s2 = this.#start6w2[row]!
    if (s2 !== w2 >>> 0) return s2 < w2 >>> 0
    return this.#start6w3[row]! <= w3 >>> 0
  }
}
