// Limits on negotiations of keys and on what is kept of them.

export interface GssLimits {
  /** Keys of all clients, each some 10 KiB. Beyond it the least recently used one goes. */
  readonly contextsMax: number
  /** Negotiations under way, and keys that have signed nothing yet. The oldest one goes. */
  readonly unprovenMax: number
  /** Either of them for each client: an IPv4 address or an IPv6 /64. Its own oldest one goes. */
  readonly perClientMax: number
  /** A key without a message for this long is forgotten. */
  readonly idleMs: number
  /** A negotiation that takes longer is forgotten. */
  readonly negotiationMaxMs: number
  /** Tokens of one negotiation: Kerberos needs one, SPNEGO at most three. */
  readonly stepsMax: number
  /** Tokens that are looked at at once; one more is SERVFAIL, and its client comes again. */
  readonly atOnceMax: number
  /** Letters of the name of a principal. */
  readonly principalMax: number
  /** From one line of the log on negotiations that failed to the next. */
  readonly logMs: number
  /** From one try to read the keytab to the next, after it failed. */
  readonly retryMs: number
}

export const gssLimits: GssLimits = Object.freeze({
  contextsMax: 1_000,
  unprovenMax: 100,
  perClientMax: 50,
  idleMs: 10 * 60_000,
  negotiationMaxMs: 10_000,
  stepsMax: 8,
  atOnceMax: 32,
  principalMax: 256,
  logMs: 10_000,
  retryMs: 1_000,
})
