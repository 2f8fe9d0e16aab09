// Limits on zone pushes: how much of a zone is compared, how fast, and for how long.

export const pushLimits = {
  /** Records of a zone, here and at its target. */
  recordsMax: 100_000,
  /** Time for a round: reading, and all writes. */
  roundMs: 300_000,
  /** Pause after a failure; it doubles with each further one. */
  retryFirstMs: 30_000,
  retryMostMs: 3_600_000,
  /** From a beat of the node that pushes to the next one. */
  beatMs: 15_000,
  /** Without a beat for so long, another node takes over. */
  abandonedMs: 60_000,
  /** Sets of one list that are shown and logged. */
  shownMax: 1_000,
  /** Requests of a round that are refused, and sent again in two halves. */
  splitsMax: 50,
  /** Octets of an update; a message over TCP has 65,535 with its signature. */
  updateBytesMax: 48_000,
} as const

export const route53Limits = {
  /** Requests of an account: 5 a second. */
  pauseMs: 250,
  pageMax: 300,
  /** Values of a request: 1,000. */
  valuesMax: 1_000,
  /** Characters of all values of a request: 32,000. */
  charactersMax: 32_000,
  bytesMax: 16_000_000,
} as const

export const cloudflareLimits = {
  /** Requests of a user: 1,200 in five minutes. */
  pauseMs: 300,
  pageMax: 1_000,
  /** Records of a batch in the free plan. */
  batchMax: 200,
  ttlMinSeconds: 60,
  ttlMaxSeconds: 86_400,
  bytesMax: 16_000_000,
} as const

/** What is waited for where a cloud says that requests come too fast. */
export const throttleLimits = { tries: 5, firstMs: 1_000, mostMs: 60_000 } as const
