// Limits on the clients of the redirect listener: time, octets and connections.

export const redirectLimits = {
  /** Request line and headers; more is 431. */
  headerBytesMax: 16_384,
  headersMax: 100,
  /** RFC 1035 section 2.3.4, with a final dot. A longer Host header names nothing. */
  hostCharactersMax: 254,
  /** How often connections are looked at that take too long. */
  patrolMs: 1_000,
  /** Requests under way get so long at a stop. */
  stopMs: 2_000,
  /** How often certificate files are looked at. */
  certificatesEveryMs: 10_000,
  certificateBytesMax: 1_000_000,
  /** Lines that wait for the disk; more are dropped and counted. */
  logBytesMax: 4_000_000,
  logFieldCharactersMax: 2_048,
  /** A thread that dies is started again after this, doubled for each death in a row. */
  restarts: { firstMs: 100, mostMs: 5_000 },
  stableMs: 60_000,
  /** A write by the API waits so long for the listener to have its redirects. */
  adoptionMs: 5_000,
} as const
