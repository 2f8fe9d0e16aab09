// The memory layout of a range table.

/**
 * Words at the start of the table. From `Index4` on: word offsets of the columns, relative to the
 * table; a reader moves from table to table by these alone.
 */
export const RangeHeader = {
  Words: 32,
  Magic: 0,
  Count4: 1,
  Count6: 2,
  /** Leading bits of an IPv4 address that select an entry of its index. */
  IndexBits4: 3,
  /** Number of value groups, see `range-groups.ts`. */
  Groups: 4,
  /** Number of distinct values. */
  Values: 5,
  Index4: 8,
  Rows4: 9,
  Index6: 10,
  Rows6: 11,
  Last6: 12,
  Group4: 13,
  Group6: 14,
  Nodes4: 15,
  Nodes6: 16,
  GroupStart: 17,
  GroupValue: 18,
  /** End of the whole table, in words. */
  End: 19,
  /** From here on the header is free for the owner of a set of tables. */
  Owner: 28,
} as const

/** "gRNG" in a little-endian file. */
export const rangeMagic = 0x474e5267

/** Fields read together lie together: a cache miss costs more than the search. */
export const Row4 = { Words: 2, Start: 0, Value: 1 } as const
/** `Start`: three words; the last one is rarely read. */
export const Row6 = { Words: 4, Start: 0, Value: 3 } as const

/** Keeps a row and a count within 31 bits. */
export const rangeRowsMax = 67_108_864

/** About one index entry per row; at least a cache line of rows, at most 256 KiB. */
const indexBitsMax = 16

/** At least 1: JavaScript shifts by 32 as by 0. */
export function indexBits4(count4: number): number {
  return Math.min(Math.max(32 - Math.clz32(count4), 1), indexBitsMax)
}

/** Levels above the rows in the largest table. */
export const rangeLevelsMax = 7

/** A node covers 2 to this power rows, or nodes of the level below. */
export const nodeShift = 4

/** Number of nodes on each level, from the one above the rows to the single root. */
export function nodesByLevel(rows: number): readonly number[] {
  const levels: number[] = []
  let count = rows
  do {
    count = Math.ceil(count / 2 ** nodeShift)
    levels.push(count)
  } while (count > 1)
  return levels
}

/** The numbers that determine the offsets of the columns. */
export interface RangeCounts {
  readonly count4: number
  readonly count6: number
  readonly bits4: number
  readonly indexWords6: number
  readonly groups: number
  readonly values: number
}

export interface RangeLayout {
  readonly index4: number
  readonly rows4: number
  readonly index6: number
  readonly rows6: number
  /** The last words of addresses. */
  readonly last6: number
  /** An octet a row. */
  readonly group4: number
  readonly group6: number
  /** A bit for each group that occurs below a node; level by level. */
  readonly nodes4: number
  readonly nodes6: number
  /** By group, one more than there are: offset of its values in `groupValue`. */
  readonly groupStart: number
  readonly groupValue: number
  readonly end: number
}

/** Words of a node. */
export function nodeWords(groups: number): number {
  return Math.ceil(groups / 32)
}

/** Offsets in octets; each column begins at a cache line. */
export function rangeLayout(counts: RangeCounts): RangeLayout {
  const { count4, count6, bits4, indexWords6, groups, values } = counts
  let end = RangeHeader.Words * 4
  const column = (words: number): number => {
    const at = end
    end = Math.ceil((at + words * 4) / 64) * 64
    return at
  }
  const nodesOf = (rows: number): number =>
    nodesByLevel(rows).reduce((a, b) => a + b) * nodeWords(groups)
  return {
    index4: column(2 ** bits4 + 1),
    rows4: column(count4 * Row4.Words),
    index6: column(indexWords6),
    rows6: column(count6 * Row6.Words),
    last6: column(count6),
    group4: column(Math.ceil(count4 / 4)),
    group6: column(Math.ceil(count6 / 4)),
    nodes4: column(nodesOf(count4)),
    nodes6: column(nodesOf(count6)),
    groupStart: column(groups + 1),
    groupValue: column(values),
    end,
  }
}
