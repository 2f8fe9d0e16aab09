// Timeouts and limits of the Redis client.

export const redisLimits = {
  connectTimeoutMs: 2_000,
  /** For a Sentinel or a node of a Cluster to say where writes go, its connection included. */
  findTimeoutMs: 3_000,
  /** A slower command means that Redis is away: a login waits for all of its commands. */
  commandTimeoutMs: 250,
  /** Commands under way and waiting; one more is refused. */
  commandsMax: 1_000,
  /** A connection that is silent for so long is given up; a ping keeps it from being silent. */
  silenceMs: 9_000,
  pingMs: 3_000,
  /** Between two questions to a Redis that answered: a silent one is missed at rest, too. */
  lookMs: 1_000,
  /** From a command that took too long to the first question whether Redis is back. */
  awayPauseMs: 500,
  reconnectFirstMs: 50,
  reconnectMaxMs: 2_000,
  /** Between two questions to a Redis that is still reading its files. */
  loadingPauseMs: 100,
  /** Fields read from a hash in one go. */
  fieldsPerScan: 1_000,
  /** What a node said of members is forgotten when it says nothing for so long. */
  peerKeptMs: 10 * 60_000,
} as const
