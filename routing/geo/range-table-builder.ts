// Puts ranges of addresses into a range table: gaps filled, equal neighbours merged, indexed.
import { assert } from '#lib/assert.ts'
import {
  RangeHeader,
  indexBits4,
  indexBits6,
  rangeLayout,
  rangeMagic,
  rangeRowsMax,
} from './range-layout.ts'

/** From `start` to `end`, both included, as unsigned 32-bit numbers. */
export interface Range4 {
  readonly start: number
  readonly end: number
  readonly value: number
}

/** From `start` to `end`, both included, as unsigned 128-bit numbers. */
export interface Range6 {
  readonly start: bigint
  readonly end: bigint
  readonly value: number
}

/**
 * @param ranges4 disjoint, in any order; what they leave out gets the value 0
 * @param ranges6 the same for IPv6
 */
export function buildRangeTable(
  ranges4: Iterable<Range4>,
  ranges6: Iterable<Range6>,
): SharedArrayBuffer {
  const builder = new RangeTableBuilder()
  const sorted4 = Array.from(ranges4).sort((a, b) => a.start - b.start)
  for (const { start, end, value } of sorted4) builder.add4(start, end, value)
  const sorted6 = Array.from(ranges6).sort((a, b) =>
    a.start < b.start ? -1 : Number(a.start > b.start),
  )
  const first = new Uint32Array(4)
  const last = new Uint32Array(4)
  for (const { start, end, value } of sorted6) {
    splitWords(start, first)
    splitWords(end, last)
    builder.add6(first, last, value)
  }
  return builder.build()
}

function splitWords(address: bigint, words: Uint32Array): void {
  for (let i = 0; i < 4; i++) words[i] = Number((address >> BigInt(96 - 32 * i)) & 0xffff_ffffn)
}

/** Takes ranges in the order of their addresses, without an object for each. */
export class RangeTableBuilder {
  readonly #start4 = new Column()
  readonly #value4 = new Column()
  readonly #start6 = [new Column(), new Column(), new Column(), new Column()] as const
  readonly #value6 = new Column()
  /** The first address that no row covers; 2^32 when all are covered. */
  #next4 = 0
  readonly #next6 = new Uint32Array(4)
  #isFull6 = false

  /** Rows so far, of both families. */
  get rows(): number {
    return this.#start4.length + this.#value6.length
  }

  add4(start: number, end: number, value: number): void {
    assert(start >= this.#next4, 'ranges are disjoint and come in order')
    assert(end >= start && end <= 0xffff_ffff, 'a range does not end before it begins')
    if (start > this.#next4) this.#row4(this.#next4, 0)
    this.#row4(start, value)
    this.#next4 = end + 1
  }

  /** Four words each, the most significant first; copied. */
  add6(start: Uint32Array, end: Uint32Array, value: number): void {
    const order = compareWords(start, this.#next6)
    assert(!this.#isFull6 && order >= 0, 'ranges are disjoint and come in order')
    assert(compareWords(start, end) <= 0, 'a range does not end before it begins')
    if (order > 0) this.#row6(this.#next6, 0)
    this.#row6(start, value)
    this.#next6.set(end)
    this.#isFull6 = addOne(this.#next6)
  }

  build(): SharedArrayBuffer {
    if (this.#next4 <= 0xffff_ffff) this.#row4(this.#next4, 0)
    if (!this.#isFull6) this.#row6(this.#next6, 0)
    const [count4, count6] = [this.#start4.length, this.#value6.length]
    assert(count4 + count6 <= rangeRowsMax, 'a range table is within its limit')
    const [bits4, bits6] = [indexBits4(count4), indexBits6(count6)]
    const at = rangeLayout(count4, count6, bits4, bits6)
    const buffer = new SharedArrayBuffer(at.end)
    const header = new Uint32Array(buffer, 0, RangeHeader.Words)
    header[RangeHeader.Magic] = rangeMagic
    header[RangeHeader.Count4] = count4
    header[RangeHeader.Count6] = count6
    header[RangeHeader.IndexBits4] = bits4
    header[RangeHeader.IndexBits6] = bits6
    this.#start4.writeTo(buffer, at.start4)
    this.#value4.writeTo(buffer, at.value4)
    this.#value6.writeTo(buffer, at.value6)
    for (const [i, column] of this.#start6.entries()) column.writeTo(buffer, at.start6[i]!)
    fillIndex4(new Uint32Array(buffer, at.index4, 2 ** bits4 + 1), this.#start4, bits4)
    fillIndex6(new Uint32Array(buffer, at.index6, 2 ** bits6 + 1), this.#start6, bits6)
    return buffer
  }

  #row4(start: number, value: number): void {
    if (this.#value4.last() === value) return
    this.#start4.push(start)
    this.#value4.push(value)
  }

  #row6(start: Uint32Array, value: number): void {
    if (this.#value6.last() === value) return
    for (const [i, column] of this.#start6.entries()) column.push(start[i]!)
    this.#value6.push(value)
  }
}

/** Entry b: the last row that begins at or before the first address of bucket b. */
function fillIndex4(index: Uint32Array, starts: Column, bits: number): void {
  let row = 0
  for (let bucket = 0; bucket < index.length - 1; bucket++) {
    const first = bucket * 2 ** (32 - bits)
    while (row + 1 < starts.length && starts.at(row + 1) <= first) row++
    index[bucket] = row
  }
  index[index.length - 1] = starts.length - 1
}

function fillIndex6(
  index: Uint32Array,
  [w0, w1, w2, w3]: readonly [Column, Column, Column, Column],
  bits: number,
): void {
  let row = 0
  const isAtMost = (at: number, first: number): boolean => {
    if (w0.at(at) !== first) return w0.at(at) < first
    return w1.at(at) === 0 && w2.at(at) === 0 && w3.at(at) === 0
  }
  for (let bucket = 0; bucket < index.length - 1; bucket++) {
    const first = bucket * 2 ** (32 - bits)
    while (row + 1 < w0.length && isAtMost(row + 1, first)) row++
    index[bucket] = row
  }
  index[index.length - 1] = w0.length - 1
}

function compareWords(a: Uint32Array, b: Uint32Array): number {
  for (let i = 0; i < 4; i++) {
    if (a[i] !== b[i]) return a[i]! < b[i]! ? -1 : 1
  }
  return 0
}

/** @returns true when there is no next address */
function addOne(words: Uint32Array): boolean {
  for (let i = 3; i >= 0; i--) {
    words[i]!++
    if (words[i] !== 0) return false
  }
  return true
}

/** Numbers of 32 bits, as many as come. */
class Column {
  length = 0
  #words = new Uint32Array(256)

  push(word: number): void {
    if (this.length === this.#words.length) {
      const grown = new Uint32Array(this.length * 2)
      grown.set(this.#words)
      this.#words = grown
    }
    this.#words[this.length++] = word
  }

  at(row: number): number {
    return this.#words[row]!
  }

  last(): number | undefined {
    return this.length === 0 ? undefined : this.#words[this.length - 1]
  }

  writeTo(buffer: SharedArrayBuffer, byteOffset: number): void {
    new Uint32Array(buffer, byteOffset, this.length).set(this.#words.subarray(0, this.length))
  }
}
