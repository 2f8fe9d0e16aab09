// Times of the work on alerts in a cluster.

export const clusterLimits = {
  /** A node is missing when its beat did not rise for so long. */
  missingAfterMs: 30_000,
  /** The longest interval of reports by a node that shares the database. */
  beatEveryMs: 10_000,
  /** A node that was missing for so long is forgotten. */
  forgetNodeMs: 24 * 3_600_000,
  /** A lease that was not renewed for so long may be taken over. */
  leaseMs: 15_000,
  /** After a start, earlier findings stay for so long: members are probed first. */
  settleMs: 30_000,
  pruneEveryMs: 3_600_000,
  /** Pauses of a channel after failures in a row. */
  retry: { firstMs: 5_000, mostMs: 15 * 60_000 },
  /** Share by which a pause varies. */
  retryJitter: 0.2,
  /** Time for messages under way at a stop; the next node, or start, sends the others. */
  stopGraceMs: 3_000,
} as const
