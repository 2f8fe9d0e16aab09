// Reads lists of a forge page by page, and finds the comment of an earlier review.
import { commentMark } from './comment-body.ts'
import type { Call } from './forge.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'

const perPage = 100
/** A longer discussion gets another comment. */
const pagesMax = 20

interface Row {
  readonly id: number
  readonly author: string
  readonly body: string
}

/**
 * @param path of the list, with a `?` in it
 *
 * @returns null: there is none
 */
export async function findComment(
  call: Call,
  path: string,
  rowOf: (value: unknown) => Row | null,
  isOwn: (author: string) => boolean,
): Promise<Result<number | null, string>> {
  for (let page = 1; page <= pagesMax; page++) {
    const listed = await call('GET', `${path}&per_page=${perPage}&page=${page}`)
    if (!listed.ok) return listed
    if (!Array.isArray(listed.value)) return err('the service gave no list of comments')
    for (const value of listed.value as unknown[]) {
      const row = rowOf(value)
      // Anybody can write the mark, so the author is checked as well.
      if (row !== null && row.body.startsWith(commentMark) && isOwn(row.author)) return ok(row.id)
    }
    if (listed.value.length < perPage) return ok(null)
  }
  return ok(null)
}
