// The request header If-Match (RFC 9110 section 13.1.1): the version of the object that a change is
// based on.
import { etagOf } from '#config/entry.ts'
import type { Operation } from '#config/operation.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { invalid } from '#http/reply.ts'
import type { Reply } from '#http/reply.ts'
import type { RouteContext } from './route.ts'

export interface Precondition {
  readonly ifMatch?: string
}

const tagsMax = 20
/** Weak tags never match here, and are read only to be passed over. */
const form = /^(W\/)?"([\x21\x23-\x7e]{0,128})"$/

/**
 * @param current the object or part as it is now
 * @returns what an operation takes: the tag that fits, or one that does not. Errors: the 400
 */
export function preconditionOf(
  { request }: Pick<RouteContext, 'request'>,
  current: object,
): Result<Precondition, Reply> {
  const header = request.header('if-match')
  if (header === undefined) return ok({})
  if (header.trim() === '*') return ok({ ifMatch: '*' })
  const tags = header.split(',', tagsMax).map((text) => form.exec(text.trim()))
  if (tags.includes(null)) return err(invalid('If-Match', 'must be entity tags, such as "3f2a"'))
  const strong = tags.flatMap((tag) => (tag?.[1] === undefined ? [tag?.[2] ?? ''] : []))
  const now = etagOf(current)
  // A tag that fits nothing: the change is refused in the queue as it would be here.
  return ok({ ifMatch: strong.includes(now) ? now : (strong[0] ?? 'weak') })
}

/** The first of the operations is compared: the others come after its change. */
export function conditional(
  operations: readonly Operation[],
  condition: Precondition,
): readonly Operation[] {
  return operations.map((one, i) => (i === 0 ? { ...one, ...condition } : one))
}
