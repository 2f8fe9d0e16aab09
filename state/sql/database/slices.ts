// Cuts rows into parts that one statement can take.
import { sqlLimits } from './limits.ts'

export function* slices<T>(all: readonly T[]): Generator<readonly T[]> {
  const size = sqlLimits.rowsPerStatement
  for (let i = 0; i < all.length; i += size) yield all.slice(i, i + size)
}
