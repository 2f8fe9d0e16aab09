// Marks a row that an answer used: one bit in memory shared by all threads; see use-marks.ts.

/** Reads before it writes: rows already marked do not move the cache line between threads. */
export function mark(marks: Int32Array, row: number): void {
  const bit = 1 << (row & 31)
  if ((marks[row >>> 5]! & bit) === 0) Atomics.or(marks, row >>> 5, bit)
}
