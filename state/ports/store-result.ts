// The result of a store call: a value, or the reason why the store failed.
import type { Result } from '#lib/result.ts'

/**
 * `store-away`: not reached, or not in time; a retry may succeed. `store-starting`: being created,
 * available in a few seconds. `store-refused`: the values cannot be stored, such as text with a
 * NUL.
 */
type StoreFault = 'store-away' | 'store-starting' | 'store-refused'

export interface StoreFailure<Code extends string = never> {
  readonly code: StoreFault | Code
  /** A sentence without any value of a row, query or URL: it may be logged and shown. */
  readonly message: string
}

/** Never rejects: outside failures are values. */
export type StoreCall<T, Code extends string = never> = Promise<Result<T, StoreFailure<Code>>>

/** For ports that reject instead of returning a failure. */
export async function orReject<T>(call: StoreCall<T>): Promise<T> {
  const result = await call
  if (!result.ok) throw new Error(result.error.message)
  return result.value
}
