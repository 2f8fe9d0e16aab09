// Reads JSON that may hold anything, or be none.

/** What an object holds, before its fields are looked at. */
export type Fields = Readonly<Record<string, unknown>>

/** @returns undefined: it is no JSON, which has no such value */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Whether it is an object, and no list. */
export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** None, where it is no object. */
export function fieldsOf(value: unknown): Fields {
  return isFields(value) ? value : {}
}
