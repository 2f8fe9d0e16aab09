// Finds out how rows of a list are shown: the naming field, the columns, the title.
import type { Operations } from '../api/document.ts'

export type Row = Readonly<Record<string, unknown>>

const keys = ['id', 'name', 'commit', 'key', 'channel'] as const
const first: readonly string[] = [
  ...['name', 'email', 'domain', 'key', 'triggerValue', 'sourceFqdn', 'value'],
  ...['memberId', 'resourceId', 'title', 'condition'],
]
/** The same in all rows of most readers. */
const last: readonly string[] = ['zone', 'tenantId']
const columnsMax = 7

/** The field that `{id}` of an address stands for. */
export const keyOf = (rows: readonly Row[]): string =>
  keys.find((key) => rows[0]?.[key] !== undefined) ?? 'id'

/** Names first; ids of machines last or not at all. */
export function shownFields(rows: readonly Row[]): string[] {
  const all = [...new Set(rows.slice(0, 50).flatMap((row) => Object.keys(row)))]
  const plain = all.filter((field) => rows.some((row) => isPlain(row[field])))
  const isId = (field: string): boolean => field === 'id' && plain.length > 1
  const rank = (field: string): number => {
    if (last.includes(field)) return first.length + 1
    const at = first.indexOf(field)
    return at === -1 ? first.length : at
  }
  return plain
    .filter((field) => !isId(field))
    .toSorted((a, b) => rank(a) - rank(b))
    .slice(0, columnsMax)
}

const isPlain = (value: unknown): boolean =>
  value !== undefined && (value === null || typeof value !== 'object' || Array.isArray(value))

export function titleOf(row: Row, id: string): string {
  const field = first.find((name) => typeof row[name] === 'string' && row[name] !== '')
  return field === undefined ? id : String(row[field])
}

/** `/api/v1/rollouts` → `/api/v1/rollouts/{id}`, if the API has anything there. */
export function itemPathOf(path: string, known: Operations): string | undefined {
  const form = /^\/\{\w+\}$/
  for (const one of known.values()) {
    if (one.path.startsWith(`${path}/`)) {
      const [, rest = ''] = /^(\/[^/]+)/.exec(one.path.slice(path.length)) ?? []
      if (form.test(rest)) return path + rest
    }
  }
  return undefined
}
