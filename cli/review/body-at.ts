// Reads the text of a comment from the JSON of a forge.

/** @returns '' where there is none */
export function bodyAt(row: unknown): string {
  const body = typeof row === 'object' && row !== null && 'body' in row ? row.body : ''
  return typeof body === 'string' ? body : ''
}
