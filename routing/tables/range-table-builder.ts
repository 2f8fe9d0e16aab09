// Builds the rows of a range table from address ranges: gaps filled, equal neighbours merged.
import { assert } from '#lib/assert.ts'
import { packRangeTable } from './range-pack.ts'

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
 * @param ranges4 disjoint, in any order; gaps get the value 0
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

/** Takes ranges in address order, without an object for each. */
export class RangeTableBuilder {
  readonly #start4 = new Column()
  readonly #value4 = new Column()
  readonly #high6 = new Column()
  readonly #low6 = new Column()
  readonly #value6 = new Column()
  /** The first address without a row; 2^32 when all are covered. */
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

  /** @param keyOf see `packRangeTable` */
  build(keyOf?: (value: number) => number): SharedArrayBuffer {
    if (this.#next4 <= 0xffff_ffff) this.#row4(this.#next4, 0)
    if (!this.#isFull6) this.#row6(this.#next6, 0)
    return packRangeTable(
      {
        start4: this.#start4.words(),
        value4: this.#value4.words(),
        high6: this.#high6.words(),
        low6: this.#low6.words(),
        value6: this.#value6.words(),
      },
      keyOf,
    )
  }

  #row4(start: number, value: number): void {
    if (this.#value4.last() === value) return
    this.#start4.push(start)
    this.#value4.push(value)
  }

  #row6(start: Uint32Array, value: number): void {
    if (this.#value6.last() === value) return
    for (let i = 0; i < 2; i++) this.#high6.push(start[i]!)
    for (let i = 2; i < 4; i++) this.#low6.push(start[i]!)
    this.#value6.push(value)
  }
}

function compareWords(a: Uint32Array, b: Uint32Array): number {
  for (let i = 0; i < 4; i++) {
    if (a[i] !== b[i]) return a[i]! < b[i]! ? -1 : 1
  }
  return 0
}

/** @returns true on overflow: there is no next address */
function addOne(words: Uint32Array): boolean {
  for (let i = 3; i >= 0; i--) {
    words[i]!++
    if (words[i] !== 0) return false
  }
  return true
}

/** A growing array of 32-bit numbers. */
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

  last(): number | undefined {
    return this.length === 0 ? undefined : this.#words[this.length - 1]
  }

  /** A view, not a copy. */
  words(): Uint32Array {
    return this.#words.subarray(0, this.length)
  }
}
