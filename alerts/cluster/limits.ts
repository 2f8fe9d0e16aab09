// Times of the work on alerts in a cluster.

export const clusterLimits = {
  /** A node whose beat was not seen to rise for so long is missing. */
  missingAfterMs: 30_000,
  /** A node that shares the database says something at least this often. */
  beatEveryMs: 10_000,
  /** One that was missing for so long is not expected back. */
  forgetNodeMs: 24 * 3_600_000,
  /** A lease that was not seen to be renewed for so long may be taken over. */
  leaseMs: 15_000,
  /** After a start what was found before stays: members are probed first. */
  settleMs: 30_000,
  pruneEveryMs: 3_600_000,
  /** Pauses of a channel after failures in a row. */
  retry: { firstMs: 5_000, mostMs: 15 * 60_000 },
  /** A pause may be longer or shorter by this part. */
  retryJitter: 0.2,
  /** What messages on their way get at a stop; the others are sent by the next node, or start. */
  stopGraceMs: 3_000,
} as const
