// The layout of a ring of logged queries in shared memory: one answering thread writes, the thread
// of the query log reads.

/** 32-bit cells in front of the slots. */
export const LogCell = {
  /** One of so many queries is logged, on average. */
  SampleEvery: 0,
  /** Slots that were ever written, and that were ever read; both wrap. */
  Written: 1,
  Taken: 2,
  /** Queries that were to be logged and found the ring full; it wraps. */
  Dropped: 3,
} as const

export const ringLimits = {
  /** A power of two. */
  slots: 1024,
  slotBytes: 2048,
  headBytes: 64,
} as const

export const ringBytes = ringLimits.headBytes + ringLimits.slots * ringLimits.slotBytes

/** Numbers of 64 bits at the start of a slot: milliseconds of the machine clock. */
export const SlotTime = { Asked: 0, Answered: 1 } as const

/** 32-bit cells of a slot, behind its times. */
export const SlotCell = {
  /** The random numbers of the answer started from it. */
  Seed: 4,
  /** Which turn of its service the answer was. */
  Turn: 5,
  /** Bits of SlotFlag. */
  Flags: 6,
  /** What the reply says in an extended error: -1 none. */
  ExtendedError: 7,
  /** How many members were chosen; names of the first of them follow. */
  Chosen: 8,
  ClientPort: 9,
  ClientBytes: 10,
  QueryBytes: 11,
  /** Octets of the reply; 0: none was sent. */
  ReplyBytes: 12,
  /** 1: the reply is in the slot; 0: it was too long. */
  HasReply: 13,
} as const

export const SlotFlag = {
  Tcp: 1,
  /** A service chose among members. */
  Service: 2,
  /** The service takes turns, and `Turn` says which one it was. */
  Turn: 4,
  /** The members are those of another pool than the service's. */
  Fallback: 8,
  /** Besides `Tcp`: it came through TLS, or HTTP over TLS. */
  Tls: 16,
  Https: 32,
} as const

/** In octets from the start of a slot. The texts and the reply follow the query. */
export const SlotAt = { Client: 64, Query: 80 } as const

/**
 * Texts of a slot, each behind an octet with its length. Names of members come after them, one for
 * each that was chosen, at most `memberNamesMax`.
 */
export const slotTexts = ['digest', 'commit', 'tenant', 'service', 'pool', 'reason'] as const

export const memberNamesMax = 4

/** A longer query is not logged. */
export const queryBytesMax = 512
