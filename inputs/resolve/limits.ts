// Limits on resolving host names of members: time, concurrency, life of an answer.
import { bundleLimits } from '#bundle/format/limits.ts'

export const resolveLimits = {
  /** An answer is kept for its TTL, within these bounds. */
  ttlSecondsMin: 5,
  ttlSecondsMax: 300,
  /** Share of the TTL by which a lookup may be early, so that names do not fall into step. */
  jitter: 0.1,
  /** Pauses after failures in a row. */
  retries: { firstMs: 2_000, mostMs: 60_000 },
  /** Lookups at the same time. */
  inFlightMax: 32,
  /** Time for a lookup over all servers. */
  lookupMs: 5_000,
  /** Time for one try of one server. */
  tryMs: 1_500,
  tries: 2,
  /** Addresses of one family that are read. */
  addressesReadMax: 256,
  addressesMax: bundleLimits.slotsPerHostname,
  /** How long a start waits for the first answers. */
  startPatienceMs: 2_000,
  /** Changes within this time are reported together. */
  batchMs: 250,
  /** Addresses of a name that change again and again are logged once in this time. */
  logEveryMs: 60_000,
  storeEveryMs: 5_000,
  /** Interval at which unchanged addresses are stored, with the time they were last found. */
  storeAgainMs: 3_600_000,
} as const
