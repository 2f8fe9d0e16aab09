// Limits of the query log: time, octets and retries.

export const queryLogLimits = {
  /** Pause between two looks at the rings: until one fills to a quarter, within these bounds. */
  pause: { leastMs: 1, mostMs: 50 },
  /** Octets of frames written with one call. */
  batchBytes: 64 * 1024,
  /** Octets waiting for a slow receiver; records beyond are dropped and counted. */
  waitingBytesMax: 4 * 1024 * 1024,
  /** From the connection until the receiver has named its content type. */
  handshakeMs: 5_000,
  /** Time for a receiver to confirm at a stop that it has everything. */
  finishMs: 1_000,
  /** Delay before a retry after a failure, doubled for each failure in a row. */
  retries: { firstMs: 100, mostMs: 10_000 },
  /** A connection that lasted this long resets the delay. */
  stableMs: 10_000,
  /** Time for the thread to stop. */
  stopMs: 3_000,
} as const
