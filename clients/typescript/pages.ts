// Reads lists page by page, however long they are.
import type { Answer, Client } from './calls.ts'
import type { AnswerOf, Common, PagedPath, ParamsOf, QueryOf } from './operations.ts'

export interface PagesOptions<P extends PagedPath> extends Pick<Common, 'signal'> {
  readonly params?: ParamsOf<'get', P>
  /** What the list is restricted to; `limit` is the length of a page. */
  readonly query?: Omit<QueryOf<'get', P>, 'cursor'>
  /** Pages of one list, at most. */
  readonly pagesMax?: number
}

type ListOf<P extends PagedPath> = AnswerOf<'get', P> extends readonly (infer T)[] ? T : never

const defaults = { limit: 500, pagesMax: 10_000 } as const

/**
 * Pages of a list, each asked for when the one before is done with. What changes meanwhile may be
 * in it or not.
 */
export async function* pages<P extends PagedPath>(
  client: Client,
  path: P,
  options: PagesOptions<P> = {},
): AsyncGenerator<readonly ListOf<P>[], void, void> {
  const { params, query = {}, signal, pagesMax = defaults.pagesMax } = options
  const get = client.get as (path: P, given: object) => Promise<Answer<readonly ListOf<P>[]>>
  let cursor: string | undefined
  for (let count = 1; ; count++) {
    const asked = { limit: defaults.limit, ...query, cursor }
    const { body, next } = await get(path, { params, signal, query: asked })
    yield body
    if (next === '') return
    if (next === cursor) throw new Error(`${path}: the next page is this one again`)
    if (count === pagesMax) {
      throw new Error(`${path}: more than ${pagesMax} pages; raise \`pagesMax\` or \`limit\``)
    }
    cursor = next
  }
}

/** Entries of all pages. */
export async function* entries<P extends PagedPath>(
  client: Client,
  path: P,
  options: PagesOptions<P> = {},
): AsyncGenerator<ListOf<P>, void, void> {
  for await (const page of pages(client, path, options)) yield* page
}
