// The statistics in benchmarks: median, nearest-rank percentile, range.

/** The middle value; the mean of the two middle ones for an even count; NaN without values. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  if (sorted.length % 2 === 1) return sorted[middle]!
  return sorted.length === 0 ? Number.NaN : (sorted[middle - 1]! + sorted[middle]!) / 2
}

/**
 * A 95 % confidence interval of the median for any distribution: between two of the values (sign
 * test). Five values or fewer give their range.
 */
export function medianInterval(values: readonly number[]): readonly [least: number, most: number] {
  const sorted = values.toSorted((a, b) => a - b)
  const n = sorted.length
  if (n === 0) return [Number.NaN, Number.NaN]
  /**
   * Probability that exactly `rank` of n values are below the median; and that at most so many are.
   */
  let exactly = 0.5 ** n
  let upTo = exactly
  let rank = 0
  while (upTo + (exactly * (n - rank)) / (rank + 1) <= 0.025) {
    exactly = (exactly * (n - rank)) / (rank + 1)
    upTo += exactly
    rank++
  }
  return [sorted[rank]!, sorted[n - 1 - rank]!]
}

/**
 * The smallest value that at least `percent` per cent of all values do not exceed.
 *
 * @param percent above 0, at most 100
 */
export function percentile(values: readonly number[], percent: number): number {
  if (values.length === 0) return Number.NaN
  const sorted = Float64Array.from(values).sort()
  const rank = Math.ceil((percent / 100) * sorted.length)
  return sorted[Math.max(0, rank - 1)]!
}

/** `least..greatest`, for the column beside a median; both may be negative. */
export function range(values: readonly number[], digits: number): string {
  if (values.length === 0) return '-'
  return `${Math.min(...values).toFixed(digits)}..${Math.max(...values).toFixed(digits)}`
}
