// Remembers the TTLs that a zone was answered with, for as long as caches may have them: a TTL that
// is lowered shortens no wait for what was answered before.

export interface ZoneTtls {
  /** The TTL of the DNSKEY rrset. */
  readonly keyTtlMs: number
  /** The longest of the zone. */
  readonly longestTtlMs: number
}

export interface ServedTtls extends ZoneTtls {
  /** When they were seen last. */
  readonly lastMs: number
}

/** Validators keep nothing longer than its signatures are valid. RFC 4035 section 5.3.3. */
const ttlMaxMs = 7 * 86_400_000
/** Beyond, two neighbours become one that lasts as long as both. */
const servedMax = 8

/**
 * @param before oldest first
 * @param slackMs how much longer than a TTL caches may have it
 * @param isTrusted false: the clock has jumped, and all of them count from now
 * @returns what caches may have, oldest first; never empty
 */
export function servedTtls(
  before: readonly ServedTtls[],
  { keyTtlMs, longestTtlMs }: ZoneTtls,
  { nowMs, slackMs, isTrusted }: { nowMs: number; slackMs: number; isTrusted: boolean },
): readonly ServedTtls[] {
  const now: ServedTtls = {
    keyTtlMs: Math.min(keyTtlMs, ttlMaxMs),
    longestTtlMs: Math.min(longestTtlMs, ttlMaxMs),
    lastMs: nowMs,
  }
  const kept = before
    .filter((one) => one.keyTtlMs > now.keyTtlMs || one.longestTtlMs > now.longestTtlMs)
    .map((one) => (isTrusted ? one : { ...one, lastMs: nowMs }))
    .filter((one) => nowMs - one.lastMs <= Math.max(one.keyTtlMs, one.longestTtlMs) + slackMs)
  const merged = kept.length < servedMax ? kept : [...kept.slice(0, -2), both(kept.slice(-2))]
  return [...merged, now]
}

/** The longest that caches may have. */
export function longestTtls(served: readonly ServedTtls[]): ZoneTtls {
  const { keyTtlMs, longestTtlMs } = both(served)
  return { keyTtlMs, longestTtlMs }
}

const both = (served: readonly ServedTtls[]): ServedTtls => ({
  keyTtlMs: Math.max(...served.map((one) => one.keyTtlMs)),
  longestTtlMs: Math.max(...served.map((one) => one.longestTtlMs)),
  lastMs: Math.max(...served.map((one) => one.lastMs)),
})
