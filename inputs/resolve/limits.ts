// Limits on looking up the host names of members: time, concurrency, how long an answer is kept.
import { bundleLimits } from '#bundle/format/limits.ts'

export const resolveLimits = {
  /** An answer is kept for its TTL, but between these. */
  ttlSecondsMin: 5,
  ttlSecondsMax: 300,
  /** The next look comes up to this part of the TTL earlier: names do not stay in step. */
  jitter: 0.1,
  /** Waits after failures in a row. */
  retries: { firstMs: 2_000, mostMs: 60_000 },
  /** Lookups at once. */
  inFlightMax: 32,
  /** All that a lookup may take, whatever servers there are. */
  lookupMs: 5_000,
  /** One try of one server. */
  tryMs: 1_500,
  tries: 2,
  /** Addresses of one family that are looked at. */
  addressesReadMax: 256,
  addressesMax: bundleLimits.slotsPerHostname,
  /** How long a start waits for the first answers. */
  startPatienceMs: 2_000,
  /** Changes that come within this time are handed on together. */
  batchMs: 250,
  storeEveryMs: 5_000,
  /** How often unchanged addresses are stored again, with the time they were last found. */
  storeAgainMs: 3_600_000,
} as const
