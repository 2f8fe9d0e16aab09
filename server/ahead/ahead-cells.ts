// What the thread that signs ahead says of itself, in cells that the main thread reads.

export const AheadCell = {
  /** The only generation that the thread still reads. */
  Adopted: 0,
  /** Signatures that were made since the start of the process. */
  Made: 1,
  /** Signatures without a place in the table, at the last look. */
  LeftOut: 2,
  Cells: 3,
} as const
