// Converts shares of answers to whole weights of members.

/** The largest weight of a member. */
const weightMax = 1_000_000
const factorMax = 10_000
const exact = 1e-9

/**
 * Uses the smallest factor that makes all shares whole; without one, shares are rounded, but never
 * to 0.
 */
export function wholeWeights(shares: readonly number[]): readonly number[] {
  const top = Math.max(0, ...shares)
  if (top === 0) return shares.map(() => 0)
  for (let factor = 1; factor <= factorMax && top * factor <= weightMax; factor++) {
    const isWhole = shares.every((one) => {
      return Math.abs(one * factor - Math.round(one * factor)) < exact * factor
    })
    if (isWhole) return shares.map((one) => Math.round(one * factor))
  }
  return shares.map((one) => (one === 0 ? 0 : Math.max(1, Math.round((one / top) * weightMax))))
}
