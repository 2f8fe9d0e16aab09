// Marks a row that an answer used: a bit that all threads share; see use-marks.ts.

/** A row that is marked already costs a look: threads do not take its line from each other. */
export function mark(marks: Int32Array, row: number): void {
  const bit = 1 << (row & 31)
  if ((marks[row >>> 5]! & bit) === 0) Atomics.or(marks, row >>> 5, bit)
}
