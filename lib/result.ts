// Defines Result: a value or an expected error. A bug is an assertion instead.

export type Result<T, E> = Ok<T> | Err<E>
interface Ok<T> {
  readonly ok: true
  readonly value: T
}
export interface Err<E> {
  readonly ok: false
  readonly error: E
}

export const ok = <T>(value: T): Ok<T> => ({ ok: true, value })
export const err = <E>(error: E): Err<E> => ({ ok: false, error })
