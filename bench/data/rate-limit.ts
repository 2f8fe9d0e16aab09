// The rate limit of benchmarks: the same rate for each class of answers, and a table as the
// settings have it by default.
import type { RateLimitSettings } from '#answer/rate-limit/limits.ts'

export const tableBuckets = 131_072

/** @param perSecond answers of each class to a network; 0: no limit */
export function rateLimitSettings(
  perSecond: number,
  slip: number,
  windowMs: number,
): RateLimitSettings {
  const all = perSecond
  const classes = { answer: all, referral: all, nodata: all, nxdomain: all, error: all, all: 0 }
  const rates = { perSecond: classes, windowMs, slip, isDryRun: false }
  return { rates, ipv4Bits: 24, ipv6Bits: 56, buckets: tableBuckets, exempt: [] }
}
