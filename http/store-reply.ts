// Maps store failures to replies.
import type { Result } from '#lib/result.ts'
import { byName } from '#lib/sequence/order.ts'
import type { StoreFailure } from '#state/ports/store-result.ts'
import { apiLimits } from './limits.ts'
import { pageByName } from './paging.ts'
import type { Name, Paging } from './paging.ts'
import { later, missing, noContent, refused, success } from './reply.ts'
import type { Reply } from './reply.ts'

/** For failures without a message of the handler's own. */
export function storeFailed({ code, message }: StoreFailure<string>): Reply {
  if (code === 'store-refused') return refused(400, message)
  if (code === 'store-starting') return later(503, message, apiLimits.retryAfter.readingSeconds)
  if (code === 'store-away') return storeAway(message)
  return refused(500, `the request was not carried out: ${message}`)
}

type Stored<T> = Result<T, StoreFailure<string>>

/** What a store has listed, each as `show` makes it. */
export function storedList<T>(listed: Stored<readonly T[]>, show: (one: T) => unknown): Reply {
  return listed.ok ? success(listed.value.map(show)) : storeFailed(listed.error)
}

/** The same by name, as a page. @param idOf orders those of one name */
export function storedPage<T extends { readonly name: string }>(
  listed: Stored<readonly T[]>,
  query: Paging & Name,
  idOf: (one: T) => string,
  show: (one: T) => object,
): Reply {
  if (!listed.ok) return storeFailed(listed.error)
  const rows = listed.value.map((one) => ({ ...one, uid: idOf(one) }))
  return pageByName(rows.sort(byName), query, show)
}

/** What a store has found. @param noun for the reply where there is none */
export function storedOne<T>(
  found: Stored<T | null>,
  noun: string,
  show: (one: T) => unknown,
): Reply {
  if (!found.ok) return storeFailed(found.error)
  return found.value === null ? missing(noun) : success(show(found.value))
}

/** What a store has deleted: `null` or false where there was nothing. */
export function storedGone(deleted: Stored<unknown>, noun: string): Reply {
  if (!deleted.ok) return storeFailed(deleted.error)
  return deleted.value === null || deleted.value === false ? missing(noun) : noContent()
}

/** The database, or Redis, is away, fails, or is too slow. */
export function storeAway(message: string): Reply {
  const { storeSeconds } = apiLimits.retryAfter
  return later(503, `this cannot be read or kept at the moment: ${message}`, storeSeconds)
}
