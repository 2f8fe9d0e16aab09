// Where the columns of a range table lie in its buffer.

/** Words at the beginning of the buffer. */
export const RangeHeader = {
  Words: 16,
  Magic: 0,
  Count4: 1,
  Count6: 2,
  /** How many leading bits of an address choose an entry of the first-level index. */
  IndexBits4: 3,
  IndexBits6: 4,
} as const

/** "gRNG" in a little-endian file. */
export const rangeMagic = 0x474e5267

/** Rows, so that a row and a count fit everywhere a number of 31 bits does. */
export const rangeRowsMax = 67_108_864

/**
 * An index entry for about every row; a cache line of rows at least, 4 MiB at most. Half of the
 * IPv6 networks in use lie below sixteen values of their first 16 bits, so its index looks at more.
 */
const indexBitsMax4 = 16
const indexBitsMax6 = 20

export interface RangeLayout {
  readonly index4: number
  readonly start4: number
  readonly value4: number
  readonly index6: number
  /** Four columns: the words of an address, the most significant first. */
  readonly start6: readonly [number, number, number, number]
  readonly value6: number
  readonly end: number
}

export function indexBits4(count4: number): number {
  return indexBits(count4, indexBitsMax4)
}

export function indexBits6(count6: number): number {
  return indexBits(count6, indexBitsMax6)
}

/** At least 1: JavaScript shifts by 32 as by 0. */
function indexBits(count: number, bitsMax: number): number {
  return Math.min(Math.max(32 - Math.clz32(count), 1), bitsMax)
}

/** Offsets in octets; each column begins at a cache line. */
export function rangeLayout(
  count4: number,
  count6: number,
  bits4: number,
  bits6: number,
): RangeLayout {
  let end = RangeHeader.Words * 4
  const column = (words: number): number => {
    const at = end
    end = Math.ceil((at + words * 4) / 64) * 64
    return at
  }
  const index4 = column(2 ** bits4 + 1)
  const start4 = column(count4)
  const value4 = column(count4)
  const index6 = column(2 ** bits6 + 1)
  const start6 = [column(count6), column(count6), column(count6), column(count6)] as const
  const value6 = column(count6)
  return { index4, start4, value4, index6, start6: [...start6], value6, end }
}
