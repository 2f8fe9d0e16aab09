// The result of a store call: a value, or the reason why the store failed.
import { err, ok } from '#lib/result.ts'
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

/**
 * For work that returns a code where it cannot be done.
 *
 * @param sentences by code
 */
export async function withFaults<Value, Code extends string>(
  call: StoreCall<Value>,
  sentences: Readonly<Record<Code, string>>,
): StoreCall<Exclude<Value, Code>, Code> {
  const done = await call
  if (!done.ok) return done
  const { value } = done
  const isCode = typeof value === 'string' && Object.hasOwn(sentences, value)
  if (!isCode) return ok(value as Exclude<Value, Code>)
  const code = value as string as Code
  return err({ code, message: sentences[code] })
}
