// Parses JSON of unknown content.

/** An object whose fields were not examined yet. */
export type Fields = Readonly<Record<string, unknown>>

/** A file's text, without the mark that editors of Windows put first (RFC 8259 section 8.1). */
export const textOfFile = (octets: Uint8Array): string => new TextDecoder().decode(octets)

/** @returns undefined: it is no JSON */
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

/** The rows of a list of objects; empty unless it is a list. */
export function rowsOf(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? value.map(fieldsOf) : []
}

/** Empty unless it is an object. */
export function fieldsOf(value: unknown): Fields {
  return isFields(value) ? value : {}
}
