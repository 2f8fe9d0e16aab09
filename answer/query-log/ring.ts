// Layout of a ring of logged queries in shared memory: an answering thread writes, the thread of
// the query log reads.

/** 32-bit cells in front of the slots. */
export const LogCell = {
  /** On average, one query in this many is logged. */
  SampleEvery: 0,
  /** Slots written and slots read so far; both wrap. */
  Written: 1,
  Taken: 2,
  /** Queries chosen for the log that found the ring full; wraps. */
  Dropped: 3,
} as const

export const ringLimits = {
  /** A power of two. */
  slots: 1024,
  slotBytes: 2048,
  headBytes: 64,
} as const

export const ringBytes = ringLimits.headBytes + ringLimits.slots * ringLimits.slotBytes

/** 64-bit numbers at the start of a slot: milliseconds of the machine clock. */
export const SlotTime = { Asked: 0, Answered: 1 } as const

/** 32-bit cells of a slot, after its times. */
export const SlotCell = {
  /** The seed of the answer's random numbers. */
  Seed: 4,
  /** The turn of the service. */
  Turn: 5,
  /** Bits of SlotFlag. */
  Flags: 6,
  /** Code of the extended error in the reply; -1: none. */
  ExtendedError: 7,
  /** Number of chosen members; the names of the first ones follow. */
  Chosen: 8,
  ClientPort: 9,
  ClientBytes: 10,
  QueryBytes: 11,
  /** Octets of the reply; 0: no reply was sent. */
  ReplyBytes: 12,
  /** 1: the slot has the reply; 0: it was too long. */
  HasReply: 13,
} as const

export const SlotFlag = {
  Tcp: 1,
  /** A service chose among members. */
  Service: 2,
  /** The service takes turns, and `Turn` is valid. */
  Turn: 4,
  /** The members are from another pool than the service's. */
  Fallback: 8,
  /** Set with `Tcp`: the query came over TLS, or over HTTPS. */
  Tls: 16,
  Https: 32,
} as const

/** Offsets from the start of a slot. The texts and the reply follow the query. */
export const SlotAt = { Client: 64, Query: 80 } as const

/**
 * Texts of a slot, each after an octet with its length. Names of the chosen members follow, at most
 * `memberNamesMax`.
 */
export const slotTexts = ['digest', 'commit', 'tenant', 'service', 'pool', 'reason'] as const

export const memberNamesMax = 4

/** Longer queries are not logged. */
export const queryBytesMax = 512
