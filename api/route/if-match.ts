// Parses the request header If-Match (RFC 9110 section 13.1.1): the version of the object that a
// change is based on.
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
/** Weak tags never match here; they are parsed only to be skipped. */
const form = /^(W\/)?"([\x21\x23-\x7e]{0,128})"$/

/**
 * @param current the object or part as it is now
 *
 * @returns the tag for an operation, which may not match. Errors: the 400 response
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
  // Without a match any tag will do: the change is refused later, as it would be here.
  return ok({ ifMatch: strong.includes(now) ? now : (strong[0] ?? 'weak') })
}

/** Only the first operation is compared, since the others follow its change. */
export function conditional(
  operations: readonly Operation[],
  condition: Precondition,
): readonly Operation[] {
  return operations.map((one, i) => (i === 0 ? { ...one, ...condition } : one))
}
