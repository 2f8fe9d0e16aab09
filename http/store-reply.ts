// Maps store failures to replies.
import type { StoreFailure } from '#state/ports/store-result.ts'
import { apiLimits } from './limits.ts'
import { later, refused } from './reply.ts'
import type { Reply } from './reply.ts'

/** For failures without a message of the handler's own. */
export function storeFailed({ code, message }: StoreFailure<string>): Reply {
  if (code === 'store-refused') return refused(400, message)
  if (code === 'store-starting') return later(503, message, apiLimits.retryAfter.readingSeconds)
  if (code === 'store-away') return storeAway(message)
  return refused(500, `the request was not carried out: ${message}`)
}

/** The database, or Redis, is away, fails, or is too slow. */
export function storeAway(message: string): Reply {
  const { storeSeconds } = apiLimits.retryAfter
  return later(503, `this cannot be read or kept at the moment: ${message}`, storeSeconds)
}
