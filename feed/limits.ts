// Limits of the feed and of each client: sizes, times and counts.

export const feedLimits = {
  /** Life of a token; long enough to connect, too short to be passed around. */
  tokenTtlMs: 60_000,

  /** Share of all places for one tenant. */
  tenantShare: 0.5,

  /** Events that a client may miss and be sent afterwards. */
  eventsMax: 20_000,
  eventBytesMax: 8 * 1024 * 1024,
  /** More than this part of them at once causes a snapshot instead. */
  burstShare: 0.5,

  /** Octets that wait in this process for one client; the rest stays in the log. */
  bufferedBytesMax: 64 * 1024,
  /** Messages to a client before others get a turn. */
  messagesPerTurnMax: 128,
  /** A client that takes nothing for so long is too slow. */
  stallMs: 15_000,
  /** Time for a whole snapshot. */
  snapshotMsMax: 60_000,

  /** Messages, pings and pongs of a client between two pings of the node. */
  incomingPerPingMax: 60,
  pingMs: 30_000,

  /** The longest time that a revoked credential goes unnoticed on another node. */
  recheckMs: 10_000,
  /** How long a store may be away before connections end. */
  uncheckedMsMax: 60_000,

  statsMs: 10_000,
  tickMs: 1_000,
  /** From the close frame to the end of the connection. */
  closeGraceMs: 1_000,
} as const

/** RFC 6455 section 7.4; codes from 4000 on are ours, named after HTTP statuses. */
export const closeCodes = {
  goingAway: 1001,
  tooMuch: 1008,
  tryLater: 1013,
  credentialEnded: 4401,
  tooSlow: 4408,
} as const
