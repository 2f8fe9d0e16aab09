// Limits on zones that come from servers of others: their size, their time, and how often they are
// asked.

export const inboundLimits = Object.freeze({
  /** Records of one zone; what is more is refused. */
  recordsMax: 1_000_000,
  /** Octets of all messages of one transfer. */
  bytesMax: 256 * 1024 * 1024,
  /** Records of the changes that are taken as such; with more the zone is asked for whole. */
  changedRecordsMax: 20_000,
  connectMs: 5_000,
  /** From message to message. */
  idleMs: 20_000,
  /** A transfer as a whole. */
  durationMaxMs: 10 * 60_000,
  /** Transfers at once; others wait. */
  runningMax: 4,
})

/** Bounds of the timers of SOA records, which others write. RFC 1912 section 2.2. */
export const inboundTimers = Object.freeze({
  refreshMinMs: 10_000,
  refreshMaxMs: 86_400_000,
  retryMinMs: 5_000,
  retryMaxMs: 86_400_000,
  expireMinMs: 60_000,
  expireMaxMs: 42 * 86_400_000,
  /** Pause after a failure while no SOA record is known: the first, and the longest. */
  firstRetry: Object.freeze({ firstMs: 2_000, mostMs: 120_000 }),
  /** A contact that another node noted further in the future does not count: its clock is wrong. */
  contactAheadMs: 300_000,
  /** Part by which pauses are shortened at random, so that nodes do not ask together. */
  jitter: 0.1,
  /** Pause between two looks that NOTIFY asks for. */
  noticeMs: 250,
  /**
   * Commits of one zone: so many at once, and then one in each `everyMs`, with all that has changed
   * meanwhile. Each rewrites files: 1,440 a day are what a repository bears.
   */
  commits: Object.freeze({ atOnce: 20, everyMs: 60_000 }),
  /** Pause between two transfers of a refused zone, where commits may have mended the cause. */
  mendedMs: 30_000,
  /**
   * Pause before a zone is asked for and written again, where the repository was busy or away: the
   * first one. It doubles, up to retry of the SOA record.
   */
  rewriteMs: 5_000,
})
