// A range table: finds the row whose address range holds an address.
import { assert } from '#lib/assert.ts'
import * as index from './address-index.ts'
import * as layout from './range-layout.ts'
import { RowGroups } from './row-groups.ts'

export { buildRangeTable } from './range-table-builder.ts'

// Local constants are faster than imports: see answer/answer.ts.
const { AddressNode, bitsMask, placeShift } = index
const { RangeHeader, Row4, Row6, rangeMagic } = layout

/**
 * Rows cover all addresses of a family without a gap, in order; neighbours have different values.
 * Addresses that the input did not name lie in a row of value 0. IPv4-mapped IPv6 addresses are
 * IPv4 addresses (RFC 4291 section 2.5.5.2): the caller looks them up as such.
 *
 * Addresses and words may be signed or unsigned: V8 boxes an unsigned one above 2^31 where the call
 * is not inlined. Results are unsigned.
 */
export class RangeTable {
  count4 = 0
  count6 = 0
  /** Number of value groups. */
  groups = 0
  /** Which groups of values occur below which rows. */
  readonly groups4: RowGroups
  readonly groups6: RowGroups
  readonly #words: Uint32Array
  /** `#words` as signed numbers: an index entry below 0 is a node, see address-index.ts. */
  readonly #signed: Int32Array
  // Word offsets of the columns of RangeLayout in the memory.
  #index4 = 0
  #rows4 = 0
  #index6 = 0
  #rows6 = 0
  #last6 = 0
  #groupStart = 0
  #groupValue = 0
  #shift4 = 0

  /** @param buffer result of `packRangeTable`, also as a part of a larger buffer */
  constructor(buffer: ArrayBufferLike, byteOffset = 0) {
    // Explicit lengths: growing memory must not make these views follow it.
    const words = Math.floor(buffer.byteLength / 4)
    this.#words = new Uint32Array(buffer, 0, words)
    this.#signed = new Int32Array(buffer, 0, words)
    const octets = new Uint8Array(buffer, 0, words * 4)
    this.groups4 = new RowGroups(octets, this.#signed)
    this.groups6 = new RowGroups(octets, this.#signed)
    assert(this.moveTo(byteOffset / 4), 'a range table begins with its magic number')
  }

  /**
   * Moves to another table of the same memory.
   *
   * @param at its first word
   * @returns false: there is none
   */
  moveTo(at: number): boolean {
    const words = this.#words
    if (words[at + RangeHeader.Magic] !== rangeMagic) return false
    const groups = words[at + RangeHeader.Groups]!
    this.count4 = words[at + RangeHeader.Count4]!
    this.count6 = words[at + RangeHeader.Count6]!
    this.groups = groups
    this.#shift4 = 32 - words[at + RangeHeader.IndexBits4]!
    this.#index4 = at + words[at + RangeHeader.Index4]!
    this.#rows4 = at + words[at + RangeHeader.Rows4]!
    this.#index6 = at + words[at + RangeHeader.Index6]!
    this.#rows6 = at + words[at + RangeHeader.Rows6]!
    this.#last6 = at + words[at + RangeHeader.Last6]!
    this.#groupStart = at + words[at + RangeHeader.GroupStart]!
    this.#groupValue = at + words[at + RangeHeader.GroupValue]!
    const group4 = (at + words[at + RangeHeader.Group4]!) * 4
    const group6 = (at + words[at + RangeHeader.Group6]!) * 4
    this.groups4.moveTo(this.count4, groups, group4, at + words[at + RangeHeader.Nodes4]!)
    this.groups6.moveTo(this.count6, groups, group6, at + words[at + RangeHeader.Nodes6]!)
    return true
  }

  /** The row whose range holds an IPv4 address. */
  find4(address: number): number {
    const wanted = address >>> 0
    const words = this.#words
    const starts = this.#rows4
    const bucket = this.#index4 + (wanted >>> this.#shift4)
    let row = words[bucket]!
    let rows = words[bucket + 1]! - row + 1
    // Branch-free: a branch by address is mispredicted half the time. The rows after the first
    // start in the bucket or at its end, so no difference overflows.
    while (rows > 1) {
      const half = rows >>> 1
      const isBehind = (wanted - words[starts + (row + half) * Row4.Words]!) >> 31
      row += half & ~isBehind
      rows -= half
    }
    return row
  }

  /**
   * Prefetches what `find4` and the scope search will read for these addresses, which are
   * overwritten.
   *
   * @returns a meaningless number
   */
  readAhead4(addresses: Int32Array, count: number): number {
    const words = this.#words
    const { groups4 } = this
    for (let i = 0; i < count; i++) {
      const bucket = this.#index4 + (addresses[i]! >>> this.#shift4)
      const row = words[bucket]!
      addresses[i] = row + ((words[bucket + 1]! - row + 1) >>> 1)
    }
    let sum = 0
    for (let i = 0; i < count; i++) {
      const row = addresses[i]!
      sum = (sum + words[this.#rows4 + row * Row4.Words]! + groups4.groupOf(row)) | 0
    }
    return sum
  }

  /** The row whose range holds an IPv6 address; `w0` is its most significant word. */
  find6(w0: number, w1: number, w2: number, w3: number): number {
    const words = this.#signed
    const nodes = this.#index6
    let bits = words[nodes + AddressNode.Bits]! & bitsMask
    let at = nodes + AddressNode.FirstEntry + (w0 >>> (32 - bits))
    // Nodes cover the first half of an address only.
    while (words[at]! < 0) {
      const node = nodes + (words[at]! & 0x7fff_ffff)
      const place = words[node]! >>> placeShift
      bits = words[node]! & bitsMask
      const word = place < 32 ? w0 : w1
      at = node + AddressNode.FirstEntry + ((word << (place & 31)) >>> (32 - bits))
    }
    const next = words[at + 1]!
    const high = next < 0 ? words[nodes + (next & 0x7fff_ffff) + AddressNode.FirstRow]! : next
    return this.#search6(words[at]!, high, w0 >>> 0, w1 >>> 0, w2, w3)
  }

  value4(row: number): number {
    return this.#words[this.#rows4 + row * Row4.Words + Row4.Value]!
  }

  value6(row: number): number {
    return this.#words[this.#rows6 + row * Row6.Words + Row6.Value]!
  }

  /** Index of the first value of a group; for the group after the last, the end of all values. */
  groupStart(group: number): number {
    return this.#words[this.#groupStart + group]!
  }

  /** @param index see `groupStart` */
  groupValue(index: number): number {
    return this.#words[this.#groupValue + index]!
  }

  /** The first address of a row, for messages and traces. */
  start4(row: number): number {
    return this.#words[this.#rows4 + row * Row4.Words]!
  }

  /** Word 0 to 3 of the first address of a row. */
  start6(row: number, word: number): number {
    return word < 3
      ? this.#words[this.#rows6 + row * Row6.Words + word]!
      : this.#words[this.#last6 + row]!
  }

  #search6(first: number, last: number, w0: number, w1: number, w2: number, w3: number): number {
    const words = this.#words
    const starts = this.#rows6
    let low = first
    let high = last
    while (low < high) {
      const middle = (low + high + 1) >>> 1
      const s0 = words[starts + middle * Row6.Words]!
      const s1 = words[starts + middle * Row6.Words + 1]!
      const isAtMost =
        s0 === w0 ? s1 < w1 || (s1 === w1 && this.#restIsAtMost(middle, w2, w3)) : s0 < w0
      if (isAtMost) low = middle
      else high = middle - 1
    }
    return low
  }

  /** Whether the row begins at or before the address, when the first halves are equal. */
  #restIsAtMost(row: number, w2: number, w3: number): boolean {
    const s2 = this.#words[this.#rows6 + row * Row6.Words + 2]!
    return s2 === w2 >>> 0 ? this.#words[this.#last6 + row]! <= w3 >>> 0 : s2 < w2 >>> 0
  }
}
