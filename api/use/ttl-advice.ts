// Computes a TTL that fits how often the answers of a name change.

interface ObservedChanges {
  readonly ttlSeconds: number
  /** How often the sources of the answer changed in the window. */
  readonly changes: number
  readonly windowSeconds: number
  /** True: its members are probed, so they may go down at any time. */
  readonly isProbed: boolean
}

const ttlAdviceLimits = {
  /** A shorter window says nothing of a month. */
  windowSecondsMin: 7 * 86_400,
  /** Changes in a window: a single one may be a repair. */
  changesMin: 3,
  /** Beyond this share, clients have an old answer for too much of the time. */
  staleShareMax: 0.01,
  /** The advised TTL keeps below this share. */
  staleShareWanted: 0.002,
  /** A shorter TTL costs queries without a benefit. */
  quickSeconds: 30,
  quickUnprobedSeconds: 300,
} as const

/** TTLs that people write. */
const steps = [30, 60, 120, 300, 600, 1_800, 3_600] as const

/** @returns a better TTL in seconds; null: there is no advice */
export function adviseTtl(observed: ObservedChanges): number | null {
  const { ttlSeconds, changes, windowSeconds, isProbed } = observed
  const limits = ttlAdviceLimits
  if (windowSeconds < limits.windowSecondsMin) return null
  const staleShare = (ttl: number): number => (changes * ttl) / windowSeconds
  if (changes >= limits.changesMin && staleShare(ttlSeconds) > limits.staleShareMax) {
    const fitting = steps.filter((step) => step < ttlSeconds)
    const good = fitting.filter((step) => staleShare(step) <= limits.staleShareWanted)
    return good.at(-1) ?? fitting[0] ?? null
  }
  if (changes > 0) return null
  if (isProbed) return ttlSeconds < limits.quickSeconds ? 60 : null
  return ttlSeconds < limits.quickUnprobedSeconds ? 3_600 : null
}
