// Layout of a ring of queries in shared memory: one responder writes, one reader takes them.

/** 32-bit cells in front of the slots. */
export const RingCell = {
  /** 1: a reader wants samples. */
  IsOn: 0,
  /** N - 1, where one batch in N is sampled; N is a power of two. */
  BatchMask: 1,
  /** Slots written and slots taken so far; both wrap. */
  Written: 2,
  Taken: 3,
} as const

export const ringLimits = {
  /** A power of two. */
  slots: 32,
  slotBytes: 512,
  headBytes: 32,
} as const

/** Offsets in a slot: lengths of the query and of the client's address, the address, the query. */
export const RingSlot = { QueryBytes: 0, ClientBytes: 2, Client: 4, Query: 20 } as const

/** Longer queries are not sampled. */
export const ringQueryBytesMax = ringLimits.slotBytes - RingSlot.Query

export const ringBytes = ringLimits.headBytes + ringLimits.slots * ringLimits.slotBytes
