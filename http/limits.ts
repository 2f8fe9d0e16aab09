// Limits of one client of the API: sizes, times and counts.

export const apiLimits = {
  bodyBytesMax: 64 * 1024,
  /** Request line and headers together. */
  headerBytesMax: 16 * 1024,
  connectionsMax: 256,
  requestsPerConnectionMax: 1_000,
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 30_000,
  /** For our own code, from the whole request to the answer. */
  handlerTimeoutMs: 30_000,
  /** What clients are told of an idle connection; a whole number of seconds. */
  keepAliveTimeoutMs: 5_000,
  /**
   * For how much longer it is kept: a request that leaves a busy client at the last moment would
   * meet a closed connection, and a write must not be sent again (RFC 9112 section 9.3.1).
   */
  keepAliveGraceMs: 15_000,
  /** How often slow clients are looked for. */
  checkIntervalMs: 1_000,
  /** What requests in progress get at shutdown before they are cut off. */
  closeGraceMs: 2_000,
  /** What `Retry-After` says. */
  retryAfter: {
    /** Before the configuration has been read. */
    readingSeconds: 2,
    /** It takes a repair, or a remote that comes back. */
    unreadableSeconds: 10,
    /** A database, or a Redis, that is away. */
    storeSeconds: 5,
  },
  /** Simulations of one client. */
  simulations: { perSecond: 5, burst: 20, sourcesMax: 10_000 },
  /** Checks of delegated domains that one tenant asks for: each asks servers of others a lot. */
  domainChecks: { perSecond: 0.5, burst: 20, sourcesMax: 10_000 },
  /** Tests of alert channels by one client. */
  alertTests: { perSecond: 0.2, burst: 5, sourcesMax: 10_000 },
  /** Size of a forge's message about a push: GitHub lists each file of it. */
  webhookBytesMax: 1024 * 1024,
  /** Smaller answers gain nothing; beyond this much in progress, answers are sent as they are. */
  compression: { bytesMin: 1_024, bytesInProgressMax: 16 * 1024 * 1024 },
  /** Limits of nodes that pull bundles. A wait ends before `handlerTimeoutMs`. */
  bundles: {
    ...{ waitSecondsMax: 25, waitersMax: 1_000, retryAfterSeconds: 5 },
    ...{ reportBytesMax: 20_480, wordsBytesMax: 524_288 },
    journalBytesMax: 3_000_000,
  },
  /** Texts of `?token=` and `?revision=`, and a message of a client, which has no use for any. */
  feed: { tokenLengthMax: 1_024, revisionLengthMax: 128, incomingBytesMax: 1_024 },
  /** Limits of real-user measurements. */
  rum: {
    bodyBytesMax: 8 * 1024,
    samplesMax: 32,
    perSecond: 2,
    burst: 10,
    sourcesMax: 50_000,
    scriptCacheSeconds: 3_600,
  },
} as const
