// Timeouts, retries and limits of the database client.

export const sqlLimits = {
  connectionsMax: 8,
  connectTimeoutMs: 2_000,
  /** Time that the server has; the client waits `replyGraceMs` longer for its reply. */
  statementTimeoutMs: 10_000,
  replyGraceMs: 2_000,
  /** Calls under way and waiting for a connection; one more is refused. */
  callsMax: 1_000,
  /** Pauses before another try. */
  retryPausesMs: [50, 200, 600],
  /** No new try begins after that. */
  callTimeMs: 3_000,
  /** Between two attempts to open a database that could not be opened. */
  reopenPauseMs: 500,
  rowsPerStatement: 500,
} as const

/** Parts that one statement may have. */
export function* slices<T>(all: readonly T[]): Generator<readonly T[]> {
  const size = sqlLimits.rowsPerStatement
  for (let i = 0; i < all.length; i += size) yield all.slice(i, i + size)
}
