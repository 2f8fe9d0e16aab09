// Timeouts, retries and limits of the database client.

export const sqlLimits = {
  connectionsMax: 8,
  connectTimeoutMs: 2_000,
  /** Time limit of the server; the client waits `replyGraceMs` longer for the reply. */
  statementTimeoutMs: 10_000,
  replyGraceMs: 2_000,
  /** Calls running and waiting for a connection; more are refused. */
  callsMax: 1_000,
  /** Pauses before retries. */
  retryPausesMs: [50, 200, 600],
  /** No retry begins after this time. */
  callTimeMs: 3_000,
  /** Pause between two attempts to open a database. */
  reopenPauseMs: 500,
  /** A database that lacked a table or a right is up again after this time without such a fault. */
  schemaDoubtMs: 60_000,
  rowsPerStatement: 500,
} as const

/** Splits rows into parts for one statement each. */
export function* slices<T>(all: readonly T[]): Generator<readonly T[]> {
  const size = sqlLimits.rowsPerStatement
  for (let i = 0; i < all.length; i += size) yield all.slice(i, i + size)
}
