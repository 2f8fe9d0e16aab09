// Limits on transfers: how many, how long one may take, and what is kept in memory for them.

export interface TransferLimits {
  /** Transfers at once. Further ones are refused, and the secondary tries again. */
  readonly runningMax: number
  /** Per client: an IPv4 address, or an IPv6 /64. */
  readonly perClientMax: number
  /** Limits one transfer as a whole; the connection has a limit of its own for a slow reader. */
  readonly durationMaxMs: number
  /** Older configurations that running transfers read; with one more, those of the oldest end. */
  readonly olderBundlesMax: number
  /** The same for TXT records written at run time, which change more often and are smaller. */
  readonly olderTextsMax: number
  /**
   * Octets of several changes that a transfer makes one of, which takes ten times as much memory
   * while it runs; a zone with more is sent whole.
   */
  readonly condensedBytesMax: number
  /** The same for all running transfers together. */
  readonly condensedAtOnceBytesMax: number
}

export const transferLimits: TransferLimits = Object.freeze({
  runningMax: 50,
  perClientMax: 10,
  durationMaxMs: 15 * 60_000,
  olderBundlesMax: 2,
  olderTextsMax: 16,
  condensedBytesMax: 2 * 1024 * 1024,
  condensedAtOnceBytesMax: 8 * 1024 * 1024,
})

/** Records of a zone that are kept in memory, some 300 octets each, while its digest is made. */
export const digestedRecordsMax = 250_000

/** Nodes that a transfer looks at before other work of its thread gets a turn. */
export const nodesPerTurn = 2_048

/** What a node keeps of changes, so that a secondary gets these alone. RFC 1995 section 5. */
export interface HistoryLimits {
  /** 0: nothing is kept, and each transfer is a whole zone. */
  readonly changesMax: number
  readonly bytesMax: number
  readonly ageMaxMs: number
  /** Names whose records are made and compared at one change; a zone with more is sent whole. */
  readonly namesMax: number
  /** The same for one zone. */
  readonly namesOfZoneMax: number
}

export const historyLimits: HistoryLimits = Object.freeze({
  changesMax: 1_000,
  bytesMax: 16 * 1024 * 1024,
  ageMaxMs: 7 * 24 * 3_600_000,
  namesMax: 5_000,
  namesOfZoneMax: 5_000,
})

/** Bounds on remembered versions of secondaries; the oldest go first. */
export interface GivenLimits {
  readonly clientsTimesZones: number
  readonly versionsOfEach: number
  /** All versions together, with what they take in memory besides their records. */
  readonly bytesMax: number
}

export const givenLimits: GivenLimits = Object.freeze({
  clientsTimesZones: 100_000,
  versionsOfEach: 4,
  bytesMax: 64 * 1024 * 1024,
})
