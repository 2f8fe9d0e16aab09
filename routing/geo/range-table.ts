// Which range of addresses holds a client's.
import { assert } from '#lib/assert.ts'
import * as index from './address-index.ts'
import * as layout from './range-layout.ts'
import { RowGroups } from './row-groups.ts'

export { buildRangeTable } from './range-table-builder.ts'

// Constants of this file, for the reason that runtime/answer.ts gives.
const { AddressNode, bitsMask, placeShift } = index
const { RangeHeader, Row4, Row6, rangeLayout, rangeMagic } = layout

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
  /** Which groups of values are below which rows. */
  readonly groups4: RowGroups
  readonly groups6: RowGroups
  /** By group, and one more: where its values begin in `groupValue`. */
  readonly groupStart: Uint32Array
  readonly groupValue: Uint32Array
  readonly #shift4: number
  /** By leading bits of an address: the row that holds the first address with these bits. */
  readonly #index4: Uint32Array
  /** See Row4. */
  readonly #rows4: Uint32Array
  /** See address-index.ts; signed, so that the sign tells the entries that are nodes. */
  readonly #index6: Int32Array
  /** See Row6. */
  readonly #rows6: Uint32Array
  readonly #last6: Uint32Array

  /** @param buffer what `packRangeTable` gave, also when it lies inside another buffer */
  constructor(buffer: ArrayBufferLike, byteOffset = 0) {
    const header = new Uint32Array(buffer, byteOffset, RangeHeader.Words)
    assert(header[RangeHeader.Magic] === rangeMagic, 'a range table begins with its magic number')
    const count4 = header[RangeHeader.Count4]!
    const count6 = header[RangeHeader.Count6]!
    const bits4 = header[RangeHeader.IndexBits4]!
    const indexWords6 = header[RangeHeader.IndexWords6]!
    const groups = header[RangeHeader.Groups]!
    const values = header[RangeHeader.Values]!
    const at = rangeLayout({ count4, count6, bits4, indexWords6, groups, values })
    const createColumn = (offset: number, length: number): Uint32Array =>
      new Uint32Array(buffer, byteOffset + offset, length)
    this.count4 = count4
    this.count6 = count6
    this.#shift4 = 32 - bits4
    this.#index4 = createColumn(at.index4, 2 ** bits4 + 1)
    this.#rows4 = createColumn(at.rows4, count4 * Row4.Words)
    this.#index6 = new Int32Array(buffer, byteOffset + at.index6, indexWords6)
    this.#rows6 = createColumn(at.rows6, count6 * Row6.Words)
    this.#last6 = createColumn(at.last6, count6)
    const createBytes = (offset: number, length: number): Uint8Array =>
      new Uint8Array(buffer, byteOffset + offset, length)
    this.groups4 = new RowGroups(
      createBytes(at.group4, count4),
      createColumn(at.nodes4, (at.nodes6 - at.nodes4) / 4),
      groups,
    )
    this.groups6 = new RowGroups(
      createBytes(at.group6, count6),
      createColumn(at.nodes6, (at.groupStart - at.nodes6) / 4),
      groups,
    )
    this.groupStart = createColumn(at.groupStart, groups + 1)
    this.groupValue = createColumn(at.groupValue, values)
  }

  /** The row of the range that holds an IPv4 address. */
  find4(address: number): number {
    const wanted = address >>> 0
    const starts = this.#rows4
    const bucket = wanted >>> this.#shift4
    let row = this.#index4[bucket]!
    let rows = this.#index4[bucket + 1]! - row + 1
    // A jump that depends on the address is guessed wrong half the time; a sign is not guessed. The
    // rows behind the first start in the bucket or where it ends, so no difference overflows.
    while (rows > 1) {
      const half = rows >>> 1
      const isBehind = (wanted - starts[(row + half) * Row4.Words]!) >> 31
      row += half & ~isBehind
      rows -= half
    }
    return row
  }

  /** The row of the range that holds an IPv6 address; `w0` is its most significant word. */
  find6(w0: number, w1: number, w2: number, w3: number): number {
    const nodes = this.#index6
    let at: number = AddressNode.FirstEntry
    let bits = nodes[AddressNode.Bits]! & bitsMask
    at += w0 >>> (32 - bits)
    // Nodes look at the first half of an address only.
    while (nodes[at]! < 0) {
      const node = nodes[at]! & 0x7fff_ffff
      const place = nodes[node]! >>> placeShift
      bits = nodes[node]! & bitsMask
      const word = place < 32 ? w0 : w1
      at = node + AddressNode.FirstEntry + ((word << (place & 31)) >>> (32 - bits))
    }
    const next = nodes[at + 1]!
    const high = next < 0 ? nodes[(next & 0x7fff_ffff) + AddressNode.FirstRow]! : next
    return this.#search6(nodes[at]!, high, w0 >>> 0, w1 >>> 0, w2, w3)
  }

  value4(row: number): number {
    return this.#rows4[row * Row4.Words + Row4.Value]!
  }

  value6(row: number): number {
    return this.#rows6[row * Row6.Words + Row6.Value]!
  }

  /** The first address of a row, for messages and traces. */
  start4(row: number): number {
    return this.#rows4[row * Row4.Words]!
  }

  /** Word 0 to 3 of the first address of a row. */
  start6(row: number, word: number): number {
    return word < 3 ? this.#rows6[row * Row6.Words + word]! : this.#last6[row]!
  }

  #search6(first: number, last: number, w0: number, w1: number, w2: number, w3: number): number {
    const starts = this.#rows6
    let low = first
    let high = last
    while (low < high) {
      const middle = (low + high + 1) >>> 1
      const s0 = starts[middle * Row6.Words]!
      const s1 = starts[middle * Row6.Words + 1]!
      const isAtMost =
        s0 === w0 ? s1 < w1 || (s1 === w1 && this.#restIsAtMost(middle, w2, w3)) : s0 < w0
      if (isAtMost) low = middle
      else high = middle - 1
    }
    return low
  }

  /** Where the first halves are equal: does the row begin at or before the address? */
  #restIsAtMost(row: number, w2: number, w3: number): boolean {
    const s2 = this.#rows6[row * Row6.Words + 2]!
    return s2 === w2 >>> 0 ? this.#last6[row]! <= w3 >>> 0 : s2 < w2 >>> 0
  }
}
