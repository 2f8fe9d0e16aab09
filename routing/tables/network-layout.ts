// The memory layout of a bundle's network tables.

/** Cells at the start; the range tables follow, each at a multiple of 64 octets. */
export const IndexCell = {
  /** Rows of the bundle's `networkTable`. */
  Tables: 0,
  /** The first word of any range table. */
  FirstTable: 1,
  /** By table: the first word of its range table, or 0. */
  First: 2,
} as const

/** Below this many rows a search is as fast without an index. */
export const indexedRowsMin = 64

/** Octets. Tables that do not fit are searched without an index. */
export const networkBytesMax = 2_000_000_000
