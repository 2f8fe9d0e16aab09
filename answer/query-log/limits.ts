// Limits of the query log: time, octets and tries.

export const queryLogLimits = {
  /** Between two looks at the rings: so long that one fills to a quarter, within these. */
  pause: { leastMs: 1, mostMs: 50 },
  /** Octets of frames that are written with one call. */
  batchBytes: 64 * 1024,
  /** Octets on their way to a receiver that is slow; records beyond it are dropped and counted. */
  waitingBytesMax: 4 * 1024 * 1024,
  /** From the connection to a receiver until it says what it takes. */
  handshakeMs: 5_000,
  /** A receiver gets so long to say at a stop that it has everything. */
  finishMs: 1_000,
  /** A file or a receiver that fails is tried again after this, doubled for each time in a row. */
  retries: { firstMs: 100, mostMs: 10_000 },
  /** A receiver that stayed for so long was no failure. */
  stableMs: 10_000,
  /** The thread gets so long at a stop. */
  stopMs: 3_000,
} as const
