// Finds in lists of a forge the comment of an earlier review, and the pull request of a commit.
import { listAt, numberAt, textAt } from '#cli/watch/json-fields.ts'
import type { Path } from '#cli/watch/json-fields.ts'
import { fieldsOf } from '#lib/text/json.ts'
import { commentMark } from './comment-body.ts'
import type { Call } from './forge.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'

const perPage = 100
/** A longer discussion gets another comment. */
const pagesMax = 20

/**
 * @param path of the list, with a `?` in it
 *
 * @param author where a comment has the name of its author
 *
 * @returns its id; null: there is none
 */
export async function findComment(
  call: Call,
  path: string,
  author: Path,
  isOwn: (author: string) => boolean,
): Promise<Result<number | null, string>> {
  for (let page = 1; page <= pagesMax; page++) {
    const listed = await call('GET', `${path}&per_page=${perPage}&page=${page}`)
    if (!listed.ok) return listed
    if (!Array.isArray(listed.value)) return err('the service gave no list of comments')
    for (const value of listed.value as unknown[]) {
      const { body } = fieldsOf(value)
      const isMarked = typeof body === 'string' && body.startsWith(commentMark)
      // Anybody can write the mark, so the author is checked as well.
      if (isMarked && isOwn(textAt(value, ...author))) return ok(numberAt(value, 'id'))
    }
    if (listed.value.length < perPage) return ok(null)
  }
  return ok(null)
}

/**
 * Finds the open pull request whose head is a commit.
 *
 * @param path of the list
 *
 * @param sha where a pull request has its head
 *
 * @param number the field with its number
 */
export async function findRequest(
  call: Call,
  path: string,
  commit: string,
  { sha, number }: { readonly sha: Path; readonly number: string },
): Promise<Result<number | null, string>> {
  const listed = await call('GET', path)
  if (!listed.ok) return listed
  const own = listAt(listed.value).find((row) => textAt(row, ...sha) === commit)
  return ok(own === undefined ? null : numberAt(own, number))
}
