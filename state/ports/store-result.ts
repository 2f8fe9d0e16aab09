// The result of a store call: a value, or why the store failed.
import type { Result } from '#lib/result.ts'

/**
 * `store-away`: not reached in time, or not reached at all; trying later may help.
 * `store-starting`: it is being made, and there in a few seconds.
 * `store-refused`: the values cannot be stored, such as text with a NUL.
 */
export type StoreFault = 'store-away' | 'store-starting' | 'store-refused'

export interface StoreFailure<Code extends string = never> {
  readonly code: StoreFault | Code
  /** A sentence without any value of a row, of a query or of a URL: it may be logged and shown. */
  readonly message: string
}

/** Never rejects: what can go wrong outside the program is a value. */
export type StoreCall<T, Code extends string = never> = Promise<Result<T, StoreFailure<Code>>>

/** For ports that reject where most give a value. */
export async function orReject<T>(call: StoreCall<T>): Promise<T> {
  const result = await call
  if (!result.ok) throw new Error(result.error.message)
  return result.value
}
