// Sorts the owners of a zone's records in the order of RFC 4034 section 6.1, by a key of octets for
// each.
import { foldTable, nameLimits } from '#dns/name.ts'

/**
 * The ranks of octets in names, ignoring case. There are 230 of them, so zero is free for the end
 * of a label, and two zeros for the end of a name, which sorts before its descendants.
 */
const rankOf = new Uint8Array(256)
let ranks = 0
for (let octet = 0; octet < 256; octet++) if (foldTable[octet] === octet) rankOf[octet] = ++ranks
for (let octet = 0; octet < 256; octet++) rankOf[octet] = rankOf[foldTable[octet]!]!

/** Groups of up to this size are sorted by insertion. */
const fewMax = 16

/** Keys by which names are sorted and found; a key is an offset. */
export class OwnerKeys {
  readonly #originBytes: number
  /** Begins with room for the key of a lookup. */
  #octets = new Uint8Array(4_096)
  #length = nameLimits.bytesMax + 1
  /** By depth: the position of the next name for each octet. */
  readonly #ends: Uint32Array[] = []

  /** @param originBytes length of the suffix that all names share, in wire form */
  constructor(originBytes: number) {
    this.#originBytes = originBytes
  }

  /** @param owner wire form, at or below the origin */
  add(owner: Uint8Array): number {
    const key = this.#length
    if (key + owner.length + 1 > this.#octets.length) {
      const grown = new Uint8Array(this.#octets.length * 2)
      grown.set(this.#octets)
      this.#octets = grown
    }
    this.#length = this.#write(owner, key)
    return key
  }

  /** @returns a key that is valid until the next lookup */
  lookFor(owner: Uint8Array): number {
    this.#write(owner, 0)
    return 0
  }

  /** @returns the end of the key */
  #write(owner: Uint8Array, key: number): number {
    const octets = this.#octets
    const labelBytes = owner.length - this.#originBytes
    let end = key + labelBytes
    octets[end] = 0
    // Written from the end on, since the last label comes first.
    for (let at = 0; at < labelBytes; at += owner[at]! + 1) {
      octets[--end] = 0
      end -= owner[at]!
      for (let i = 1; i <= owner[at]!; i++) octets[end + i - 1] = rankOf[owner[at + i]!]!
    }
    return key + labelBytes + 1
  }

  /**
   * @param depth octets known to be equal
   * @returns below 0, 0 or above 0
   */
  compare(one: number, other: number, depth = 0): number {
    if (one === other) return 0
    const octets = this.#octets
    for (let i = depth; ; i++) {
      const octet = octets[one + i]!
      if (octet !== octets[other + i]!) return octet - octets[other + i]!
      if (octet === 0 && this.#isEnd(one, i)) return 0
    }
  }

  #isEnd(key: number, depth: number): boolean {
    return depth === 0 || this.#octets[key + depth - 1] === 0
  }

  /** Sorts numbers by their keys, stably. */
  sort(numbers: Uint32Array, keyOf: Uint32Array): void {
    const spare = new Uint32Array(numbers.length)
    this.#sort({ numbers, keyOf, spare }, 0, numbers.length, 0)
  }

  /** Sorts by one octet after the other, from the first one on. */
  #sort(sorted: Sorted, from: number, to: number, depth: number): void {
    if (to - from <= fewMax) return this.#sortFew(sorted, from, to, depth)
    const { numbers, keyOf, spare } = sorted
    const octets = this.#octets
    const ends = (this.#ends[depth] ??= new Uint32Array(ranks + 1)).fill(0)
    for (let i = from; i < to; i++) ends[octets[keyOf[numbers[i]!]! + depth]!]!++
    for (let octet = 0, end = from; octet <= ranks; octet++) {
      const count = ends[octet]!
      ends[octet] = end
      end += count
    }
    for (let i = from; i < to; i++) {
      spare[ends[octets[keyOf[numbers[i]!]! + depth]!]!++] = numbers[i]!
    }
    for (let i = from; i < to; i++) numbers[i] = spare[i]!
    for (let octet = 0, start = from; octet <= ranks; octet++) {
      const end = ends[octet]!
      const isEnd = octet === 0 && end > start && this.#isEnd(keyOf[numbers[start]!]!, depth)
      if (end - start > 1 && !isEnd) this.#sort(sorted, start, end, depth + 1)
      start = end
    }
  }

  #sortFew({ numbers, keyOf }: Sorted, from: number, to: number, depth: number): void {
    for (let i = from + 1; i < to; i++) {
      const number = numbers[i]!
      let at = i
      for (; at > from; at--) {
        if (this.compare(keyOf[numbers[at - 1]!]!, keyOf[number]!, depth) <= 0) break
        numbers[at] = numbers[at - 1]!
      }
      numbers[at] = number
    }
  }
}

interface Sorted {
  readonly numbers: Uint32Array
  readonly keyOf: Uint32Array
  readonly spare: Uint32Array
}
