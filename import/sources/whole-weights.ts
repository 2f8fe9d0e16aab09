// Turns shares of answers into the whole numbers that members have as weights.

/** The largest weight of a member. */
const weightMax = 1_000_000
const factorMax = 10_000
const exact = 1e-9

/**
 * The same shares as whole numbers, with the smallest factor that makes them whole; where there is
 * none, rounded, and never to 0.
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
