// A search tree over IPv6 addresses whose nodes branch by as many bits as their rows need. Most
// networks of the world lie below a few prefixes, tens of thousands of them below one /32, so an
// index by leading bits alone would leave long searches.

/**
 * A node: the bits it reads, the row that holds its first address, then an entry for each value of
 * its bits and one more. An entry is the row that holds the first address with these bits, or the
 * offset of another node plus `childBit`.
 */
export const AddressNode = { FirstEntry: 2, Bits: 0, FirstRow: 1 } as const
/** `Bits` of a node: position of its first bit in the address times 32, plus how many it reads. */
export const bitsMask = 31
export const placeShift = 5
export const childBit = 0x8000_0000

/** Greatest number of bits of a node, all in one word of the address. */
const bitsMax = 16
/** Below this, searching the rows is as fast as another node. */
const rowsMin = 8
/** Nodes read no bits beyond this: bits of hosts, with few rows. */
const placeMax = 64
/** A tree of this size gets no more nodes, so that crafted networks cannot inflate it. */
const wordsMax = (rows: number): number => 1_024 + rows * 4

/**
 * @param high and `low`: the halves of the first addresses of rows, two words each, ascending; the
 * first is 0
 */
export function addressIndex(high: Uint32Array, low: Uint32Array): Uint32Array {
  return new AddressIndexBuilder(high, low).build()
}

class AddressIndexBuilder {
  readonly #high: Uint32Array
  readonly #low: Uint32Array
  #words = new Uint32Array(1_024)
  #length = 0
  readonly #lengthMax: number

  constructor(high: Uint32Array, low: Uint32Array) {
    this.#high = high
    this.#low = low
    this.#lengthMax = wordsMax(high.length / 2)
  }

  build(): Uint32Array {
    const rows = this.#high.length / 2
    this.#add(0, 0, rows)
    return this.#words.slice(0, this.#length)
  }

  /**
   * @param place bits before it are the same for all addresses of the node
   * @param first the row that holds the first address of the node; the others start in it
   * @param end the row after the last one that starts in it
   * @returns the offset of the node
   */
  #add(place: number, first: number, end: number): number {
    const wanted = 32 - Math.clz32(end - first)
    const bits = Math.min(wanted, bitsMax, 32 - (place & 31))
    const node = this.#reserve(AddressNode.FirstEntry + 2 ** bits + 1)
    this.#words[node + AddressNode.Bits] = (place << placeShift) | bits
    this.#words[node + AddressNode.FirstRow] = first
    let row = first
    for (let entry = 0; entry < 2 ** bits; entry++) {
      // The row before holds the first address of this part, unless a row starts exactly there.
      let next = row + 1
      const from = next < end && this.#startsPart(next, place, bits, entry) ? next++ : row
      while (next < end && this.#bitsOf(next, place, bits) === entry) next++
      const isLarge = next - from > rowsMin && place + bits < placeMax
      const isChild = isLarge && this.#length < this.#lengthMax
      const target = isChild ? (this.#add(place + bits, from, next) | childBit) >>> 0 : from
      this.#words[node + AddressNode.FirstEntry + entry] = target
      row = next - 1
    }
    this.#words[node + AddressNode.FirstEntry + 2 ** bits] = row
    return node
  }

  #reserve(words: number): number {
    const at = this.#length
    this.#length += words
    if (this.#length > this.#words.length) {
      const grown = new Uint32Array(this.#length * 2)
      grown.set(this.#words)
      this.#words = grown
    }
    return at
  }

  #word(row: number, word: number): number {
    return word < 2 ? this.#high[row * 2 + word]! : this.#low[row * 2 + word - 2]!
  }

  #bitsOf(row: number, place: number, bits: number): number {
    return (this.#word(row, place >>> 5) << (place & 31)) >>> (32 - bits)
  }

  /** Whether the row's first address is the first one with these bits. */
  #startsPart(row: number, place: number, bits: number, entry: number): boolean {
    if (this.#bitsOf(row, place, bits) !== entry) return false
    const behind = (place & 31) + bits
    let word = place >>> 5
    if (behind < 32 && (this.#word(row, word) << behind) >>> 0 !== 0) return false
    while (++word < 4) if (this.#word(row, word) !== 0) return false
    return true
  }
}
