// Restricts lists by `?limit=`, `?cursor=` and `?name=`; without them a list is whole.
import { Type } from '#lib/schema/type.ts'
import type { Static } from '#lib/schema/type.ts'
import { closed } from './shapes.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { invalid, success } from './reply.ts'
import type { Reply } from './reply.ts'

export const Paging = closed({
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 10_000, description: 'Entries in one answer, at most.' }),
  ),
  cursor: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 2_000,
      description: 'From the header X-Next-Cursor of the answer before.',
    }),
  ),
})
export type Paging = Static<typeof Paging>

export const Name = closed({
  name: Type.Optional(
    Type.String({ minLength: 1, maxLength: 1_100, description: 'Of this whole name alone.' }),
  ),
})
export type Name = Static<typeof Name>

/** The query of a list whose entries have names. */
export const NamedPaging = closed({ ...Paging.properties, ...Name.properties })

/** An entry of a list ordered by name, then by id. */
interface Named {
  readonly name: string
  readonly uid: string
}

/** Converts a name to lower case with the final dot. */
export function withDnsName<Query extends Name>(query: Query): Query {
  const { name } = query
  return name === undefined ? query : { ...query, name: dnsNameOf(name) }
}

export function dnsNameOf(text: string): string {
  return `${text.toLowerCase().replace(/\.$/, '')}.`
}

/** Keeps entries with the requested name. */
export function named<T extends { readonly name: string }>(
  all: readonly T[],
  { name: wanted }: Name,
): readonly T[] {
  return wanted === undefined ? all : all.filter(({ name }) => name === wanted)
}

/** A page of a list ordered by name; changes between two pages do no harm. */
export function pageByName<T extends Named>(
  list: readonly T[],
  paging: Paging & Name,
  show: (item: T) => object,
): Reply {
  const all = named(list, paging)
  const after = readCursor(paging.cursor)
  if (!after.ok) return after.error
  const [name, uid = ''] = after.value
  const start = name === undefined ? 0 : firstAfter(all, name, uid)
  return page(all, start, paging.limit, show, (last) => [last.name, last.uid])
}

/** A page of a list in the order of its file. */
export function pageInOrder<T extends { readonly uid: string }>(
  all: readonly T[],
  paging: Paging,
  show: (item: T) => object,
): Reply {
  const after = readCursor(paging.cursor)
  if (!after.ok) return after.error
  const [uid] = after.value
  const position = uid === undefined ? -1 : all.findIndex((item) => item.uid === uid)
  if (uid !== undefined && position === -1) {
    return invalid('cursor', 'the entry it stands for is gone; start again without it')
  }
  return page(all, position + 1, paging.limit, show, (last) => [last.uid])
}

function page<T>(
  all: readonly T[],
  start: number,
  limit: number | undefined,
  show: (item: T) => object,
  keyOf: (last: T) => readonly string[],
): Reply {
  if (limit === undefined) return success(all.slice(start).map(show))
  const items = all.slice(start, start + limit)
  const last = items.at(-1)
  const isEnd = last === undefined || start + limit >= all.length
  return success(items.map(show), isEnd ? {} : { 'x-next-cursor': cursorOf(keyOf(last)) })
}

export function cursorOf(key: readonly string[]): string {
  return Buffer.from(JSON.stringify(key)).toString('base64url')
}

/** @returns the strings of a cursor; empty: there is none */
export function readCursor(cursor: string | undefined): Result<readonly string[], Reply> {
  if (cursor === undefined) return ok([])
  try {
    const key: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString())
    const isKey =
      Array.isArray(key) && key.length > 0 && key.every((one) => typeof one === 'string')
    if (isKey) return ok(key)
  } catch {
    // Answered below.
  }
  return err(noCursor)
}

export const noCursor = invalid('cursor', 'is none that an answer of this list has given')

function firstAfter(all: readonly Named[], name: string, uid: string): number {
  let [low, high] = [0, all.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    const item = all[middle]!
    const isAfter = item.name > name || (item.name === name && item.uid > uid)
    if (isAfter) high = middle
    else low = middle + 1
  }
  return low
}
