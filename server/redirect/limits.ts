// Limits on the clients of the redirect listener: time, octets and connections.

export const redirectLimits = {
  /** Request line and headers; more is 431. */
  headerBytesMax: 16_384,
  headersMax: 100,
  /** RFC 1035 section 2.3.4, with a final dot. No redirect has a longer host. */
  hostCharactersMax: 254,
  /** How often open connections are checked for ones that take too long. */
  patrolMs: 1_000,
  /** How long requests under way may take at a stop. */
  stopMs: 2_000,
  /** Octets of lines that may wait for the disk; more lines are dropped and counted. */
  logBytesMax: 4_000_000,
  logFieldCharactersMax: 2_048,
  /** How long after its death a thread is started again, doubled for each death in a row. */
  restarts: { firstMs: 100, mostMs: 5_000 },
  stableMs: 60_000,
  /** How long a write by the API waits for the listener to have its redirects. */
  adoptionMs: 5_000,
} as const
