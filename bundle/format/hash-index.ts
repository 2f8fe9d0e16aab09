// Builds and checks hash indices of names: slots of a hash and a row plus one, by linear probing.
import { hashNameAt } from '#dns/name.ts'
import { bundleLimits } from './limits.ts'

/** Names in wire form, one for each row of a table. */
interface IndexedNames {
  readonly names: Uint8Array
  readonly rows: Uint32Array
  /** Words of a row. */
  readonly words: number
  /** The word of a row that holds the offset of its name. */
  readonly cell: number
}

/** @returns undefined when some name would be more than `probeLengthMax` slots from its place */
export function hashIndex(
  { names, rows, words, cell }: IndexedNames,
  seed: number,
): Uint32Array | undefined {
  const count = rows.length / words
  let slots = 4
  while (slots < count * 2) slots *= 2
  const mask = slots - 1
  const index = new Uint32Array(slots * 2)
  for (let row = 0; row < count; row++) {
    const hash = hashNameAt(names, rows[row * words + cell]!, seed)
    let slot = hash & mask
    for (let probes = 1; index[slot * 2 + 1] !== 0; probes++) {
      if (probes >= bundleLimits.probeLengthMax) return undefined
      slot = (slot + 1) & mask
    }
    index[slot * 2] = hash >>> 0
    index[slot * 2 + 1] = row + 1
  }
  return index
}

/**
 * @param title of the index, such as `the name index`
 * @param noun what a row is, such as `name`
 * @returns a fault as half a sentence
 */
export function faultOfIndex(
  index: Uint32Array,
  { names, rows, words, cell }: IndexedNames,
  seed: number,
  title: string,
  noun: string,
): string | undefined {
  const count = rows.length / words
  const slots = index.length / 2
  const mask = slots - 1
  const isPowerOfTwo = Number.isInteger(slots) && (slots & mask) === 0
  // More slots than rows: a probe ends at a free one.
  if (!isPowerOfTwo || slots <= count) return `${title} has a wrong size`
  let used = 0
  for (let slot = 0; slot < slots; slot++) {
    const row = index[slot * 2 + 1]!
    if (row > count) return `slot ${slot} of ${title} points outside its table`
    if (row !== 0) used++
  }
  if (used !== count) return `${title} holds a ${noun} twice or not at all`
  for (let row = 0; row < count; row++) {
    const hash = hashNameAt(names, rows[row * words + cell]!, seed)
    let slot = hash & mask
    for (let probes = 0; index[slot * 2 + 1] !== row + 1; probes++) {
      if (probes >= bundleLimits.probeLengthMax) return `${noun} ${row} is not in ${title}`
      slot = (slot + 1) & mask
    }
    if (index[slot * 2] !== hash >>> 0) return `${noun} ${row} has another hash in ${title}`
  }
  return undefined
}
