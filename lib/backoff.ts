// Computes exponential back-off: the pause before the next try, doubled for each failure in a row.

export interface Backoff {
  /** Pause after the first failure. */
  readonly firstMs: number
  /** No pause is longer. */
  readonly mostMs: number
}

/** @param failures in a row, from 1 */
export function backoffMs({ firstMs, mostMs }: Backoff, failures: number): number {
  // 2 ** 30 times any first pause exceeds every limit.
  return Math.min(mostMs, firstMs * 2 ** Math.min(Math.max(failures, 1) - 1, 30))
}
