// The memory layout of a bundle's network tables.

/** Words at the beginning; then the range tables, each at a multiple of 64 octets. */
export const IndexCell = {
  /** Rows of the bundle's `networkTable`. */
  Tables: 0,
  /** The first word of a range table, whichever. */
  FirstTable: 1,
  /** By table: the first word of its range table, or 0. */
  First: 2,
} as const

/** Fewer rows are searched, and looked at one by one, as fast without an index. */
export const indexedRowsMin = 64

/** Octets. Tables that have no room are searched. */
export const networkBytesMax = 2_000_000_000
