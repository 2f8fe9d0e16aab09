// Maps store failures to replies.
import type { StoreFailure } from '#state/ports/store-result.ts'
import { apiLimits } from './limits.ts'
import { refused } from './reply.ts'
import type { Reply } from './reply.ts'

/** For failures that the handler has no words of its own for. */
export function storeFailed({ code, message }: StoreFailure<string>): Reply {
  if (code === 'store-refused') return refused(400, message)
  if (code === 'store-starting') {
    const headers = { 'retry-after': String(apiLimits.retryAfter.readingSeconds) }
    return { ...refused(503, message), headers }
  }
  return refused(500, `the request was not carried out: ${message}`)
}
