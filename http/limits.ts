// Limits on one client of the API: sizes, times and counts.

export const apiLimits = {
  bodyBytesMax: 64 * 1024,
  /** Octets of the request line and headers. */
  headerBytesMax: 16 * 1024,
  connectionsMax: 256,
  /** Share of all connections for one client; proxies have no such limit. */
  clientShare: 0.5,
  requestsPerConnectionMax: 1_000,
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 30_000,
  /** Time for a handler, from the whole request to the response. */
  handlerTimeoutMs: 30_000,
  /** Announced life of an idle connection; whole seconds. */
  keepAliveTimeoutMs: 5_000,
  /**
   * How much longer an idle connection is kept: a request sent at the last moment would meet a
   * closed connection, and a write must not be repeated (RFC 9112 section 9.3.1).
   */
  keepAliveGraceMs: 15_000,
  /** Interval of the check for slow clients. */
  checkIntervalMs: 1_000,
  /** Time for requests in progress at shutdown. */
  closeGraceMs: 2_000,
  /** Values of `Retry-After`. */
  retryAfter: {
    /** While the configuration is read. */
    readingSeconds: 2,
    /** Until a repair, or the return of a remote. */
    unreadableSeconds: 10,
    /** While a database or a Redis is away. */
    storeSeconds: 5,
  },
  /** Simulations of a client. */
  simulations: { perSecond: 5, burst: 20, sourcesMax: 10_000 },
  /**
   * Requested checks of delegated domains of a tenant: each sends many queries to foreign servers.
   */
  domainChecks: { perSecond: 0.5, burst: 20, sourcesMax: 10_000 },
  /** Registrations at the acme-dns endpoint, and values that a client sets. */
  acmeDnsRegistrations: { perSecond: 0.2, burst: 10, sourcesMax: 10_000 },
  acmeDnsUpdates: { perSecond: 2, burst: 20, sourcesMax: 10_000 },
  /** Tests of alert channels by a client. */
  alertTests: { perSecond: 0.2, burst: 5, sourcesMax: 10_000 },
  /** Octets of a forge's message about a push: GitHub lists each file. */
  webhookBytesMax: 1024 * 1024,
  /** Smaller responses do not gain; beyond so much in progress, they are sent as they are. */
  compression: { bytesMin: 1_024, bytesInProgressMax: 16 * 1024 * 1024 },
  /** Limits on pulling nodes. A wait ends before `handlerTimeoutMs`. */
  bundles: {
    ...{ waitSecondsMax: 25, waitersMax: 1_000, retryAfterSeconds: 5 },
    ...{ reportBytesMax: 20_480, wordsBytesMax: 524_288 },
    journalBytesMax: 3_000_000,
  },
  /** Texts of `?token=` and `?revision=`, and a message of a client, which is ignored. */
  feed: { tokenLengthMax: 1_024, revisionLengthMax: 128, incomingBytesMax: 1_024 },
  /** Limits on real-user measurements. */
  rum: {
    bodyBytesMax: 8 * 1024,
    samplesMax: 32,
    perSecond: 2,
    burst: 10,
    sourcesMax: 50_000,
    scriptCacheSeconds: 3_600,
  },
} as const
