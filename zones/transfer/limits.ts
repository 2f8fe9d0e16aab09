// Limits on transfers: how many, how long one may take, and what is kept in memory for them.

export interface TransferLimits {
  /** Transfers at once. One more is refused, and the secondary tries again. */
  readonly runningMax: number
  /** Per client: an IPv4 address, or an IPv6 /64. */
  readonly perClientMax: number
  /** Limits one transfer as a whole; the connection has a limit of its own for a slow reader. */
  readonly durationMaxMs: number
  /** Older configurations that running transfers read; with one more, those of the oldest end. */
  readonly olderBundlesMax: number
  /** The same for TXT records written at run time, which change more often and are smaller. */
  readonly olderTextsMax: number
}

export const transferLimits: TransferLimits = Object.freeze({
  runningMax: 50,
  perClientMax: 10,
  durationMaxMs: 15 * 60_000,
  olderBundlesMax: 2,
  olderTextsMax: 16,
})

/** Records of a zone that are kept in memory, some 300 octets each, while its digest is made. */
export const digestedRecordsMax = 250_000

/** Nodes that a transfer looks at before other work of its thread gets a turn. */
export const nodesPerTurn = 2_048
