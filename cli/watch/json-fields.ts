// Reads fields of a response that may be of another version, or of another server.
import { plain } from '#cli/terminal/paint.ts'

export type Path = readonly string[]

/** Longer texts are cut to a line. */
const charsMax = 500
/** Rows of a screen; the API has all. */
const rowsMax = 500

function at(value: unknown, path: Path): unknown {
  let found = value
  for (const name of path) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, name)) return undefined
    found = (found as Record<string, unknown>)[name]
  }
  return found
}

/** @returns '' unless there is a text */
export function textAt(value: unknown, ...path: Path): string {
  const found = at(value, path)
  return typeof found === 'string' ? plain(found.slice(0, charsMax)) : ''
}

/** @returns null unless there is a number */
export function numberAt(value: unknown, ...path: Path): number | null {
  const found = at(value, path)
  return typeof found === 'number' && Number.isFinite(found) ? found : null
}

export function isTrueAt(value: unknown, ...path: Path): boolean {
  return at(value, path) === true
}

/** False also where there is no such field, as of an older version. */
export function isFalseAt(value: unknown, ...path: Path): boolean {
  return at(value, path) === false
}

/** The texts among the first rows. */
export function textsAt(value: unknown, ...path: Path): readonly string[] {
  return listAt(value, ...path).flatMap((one) => {
    const text = textAt({ one }, 'one')
    return text === '' ? [] : [text]
  })
}

/** The first rows. */
export function listAt(value: unknown, ...path: Path): readonly unknown[] {
  const found = at(value, path)
  return Array.isArray(found) ? (found as unknown[]).slice(0, rowsMax) : []
}
