// What TTL fits a name whose answers change so often.

export interface ObservedChanges {
  readonly ttlSeconds: number
  /** How often what the name is answered from changed in the window. */
  readonly changes: number
  readonly windowSeconds: number
  /** Its members are probed: they may go down at any time, whatever was so far. */
  readonly isProbed: boolean
}

export const ttlAdviceLimits = {
  /** Less says nothing of a month. */
  windowSecondsMin: 7 * 86_400,
  /** One change a window may be a repair. */
  changesMin: 3,
  /** With more, clients have an old answer for too much of the time. */
  staleShareMax: 0.01,
  /** What is advised is below this. */
  staleShareWanted: 0.002,
  /** What is shorter costs queries, and nothing else. */
  quickSeconds: 30,
  quickUnprobedSeconds: 300,
} as const

/** What people write. */
const steps = [30, 60, 120, 300, 600, 1_800, 3_600] as const

/** @returns a TTL in seconds that would be better; null: there is nothing to say */
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
