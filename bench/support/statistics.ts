// The few statistics that the benchmarks quote: median, nearest-rank percentile, range.

/** The middle value; the mean of the two middle ones when there are as many; NaN of nothing. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  if (sorted.length % 2 === 1) return sorted[middle]!
  return sorted.length === 0 ? Number.NaN : (sorted[middle - 1]! + sorted[middle]!) / 2
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
