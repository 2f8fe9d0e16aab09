// Timeouts and limits of the Redis client.

export const redisLimits = {
  connectTimeoutMs: 2_000,
  /** Time for a Sentinel or a node of a Cluster to locate the master, the connection included. */
  findTimeoutMs: 3_000,
  /** A slower command means that Redis is away: a login waits for all of its commands. */
  commandTimeoutMs: 250,
  /** Commands running and queued; more are refused. */
  commandsMax: 1_000,
  /** Silence after which a connection is given up; pings keep it from being silent. */
  silenceMs: 9_000,
  pingMs: 3_000,
  /** Interval of checks while Redis is up, so that an outage is noticed without traffic, too. */
  lookMs: 1_000,
  /** Delay from a timed-out command to the first check whether Redis is back. */
  awayPauseMs: 500,
  reconnectFirstMs: 50,
  reconnectMaxMs: 2_000,
  /** Interval of checks while Redis loads its files. */
  loadingPauseMs: 100,
  /** Fields read from a hash in one call. */
  fieldsPerScan: 1_000,
  /** How long verdicts of a silent node are kept. */
  peerKeptMs: 10 * 60_000,
} as const
