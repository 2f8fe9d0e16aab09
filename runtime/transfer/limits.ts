// Limits on transfers: how many, and how long one may take.

export interface TransferLimits {
  /** At once. One more is refused, and the secondary tries again. */
  readonly runningMax: number
  /** Per client: an IPv4 address, or an IPv6 /64. */
  readonly perClientMax: number
  /** Of one transfer; what a client does not take in time is the connection's own limit. */
  readonly durationMaxMs: number
}

export const transferLimits: TransferLimits = Object.freeze({
  runningMax: 50,
  perClientMax: 10,
  durationMaxMs: 15 * 60_000,
})
