// Limits on discovery: how much is read, how often, and for how long.

export const discoveryLimits = {
  /** Different questions of all pools together; those beyond are told of, and not asked. */
  queriesMax: 256,
  /** Octets of one answer, or of one file. */
  bytesMax: 8_388_608,
  /** Targets of one answer; of a larger one nothing is taken. */
  targetsMax: 10_000,
  labelsMax: 64,
  /** Characters of a label's name or value that are kept. */
  labelLengthMax: 256,
  /** Values of one label, such as tags. */
  valuesMax: 64,
  weightMax: 65_535,
  /** How long a request may wait for news: less than the minute that proxies have patience for. */
  watchSeconds: 50,
  /** From an answer of a watch to the next request, at least; at most twice that. */
  watchPauseMs: 1_000,
  /** How long a server is asked by the interval that refuses to be watched. */
  refusedMs: 600_000,
  /** Share of an interval by which a look may be early, so that nodes do not fall into step. */
  jitter: 0.1,
  retries: { firstMs: 2_000, mostMs: 60_000 },
  /** Changes within this time are reported together. */
  batchMs: 250,
  /** Members of a source that change again and again are logged once in this time. */
  logEveryMs: 60_000,
  /** How long a start waits for the first answers. */
  startPatienceMs: 2_000,
  storeEveryMs: 5_000,
  /** Interval at which unchanged members are stored, with the time they were last found. */
  storeAgainMs: 3_600_000,
  /** How long members are remembered that nobody asks for any more, and of how many. */
  droppedMs: 3_600_000,
  droppedMax: 1_000,
  /** Names of one SRV record set that are looked up. */
  srvNamesMax: 64,
} as const
