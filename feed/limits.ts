// Limits of the feed and of each client: sizes, times and counts.

export const feedLimits = {
  /** Life of a token; long enough to connect, too short to be passed around. */
  tokenTtlMs: 60_000,

  /** Share of all places that one tenant may take, so that no tenant keeps the others out. */
  tenantShare: 0.5,

  /** Events that a client may be behind, and that a client may miss and be sent afterwards. */
  eventsMax: 20_000,
  eventBytesMax: 8 * 1024 * 1024,
  /** More at once than this part of the above is no news but a new beginning: a snapshot. */
  burstShare: 0.5,

  /** What waits in this process for one client; the rest stays in the common history. */
  bufferedBytesMax: 64 * 1024,
  /** Messages to one client before everybody else gets a turn. */
  messagesPerTurnMax: 128,
  /** With something to take and nothing taken for so long, a client is too slow. */
  stallMs: 15_000,
  /** A snapshot has to be through by then. */
  snapshotMsMax: 60_000,

  /** Messages, pings and pongs of a client between two of our pings. */
  incomingPerPingMax: 60,
  pingMs: 30_000,

  /** How long a credential that ended may go unnoticed on another node. */
  recheckMs: 10_000,
  /** How long a store that does not answer is waited for. */
  uncheckedMsMax: 60_000,

  statsMs: 10_000,
  tickMs: 1_000,
  /** From our close frame to the end of the connection. */
  closeGraceMs: 1_000,
} as const

/** RFC 6455 section 7.4; those from 4000 on are ours, after the HTTP status of the same meaning. */
export const closeCodes = {
  goingAway: 1001,
  tooMuch: 1008,
  tryLater: 1013,
  credentialEnded: 4401,
  tooSlow: 4408,
} as const
