// The text of a comment, of which the beginning says whose it is.

/** @returns '' where there is none */
export function bodyAt(row: unknown): string {
  const body = typeof row === 'object' && row !== null && 'body' in row ? row.body : ''
  return typeof body === 'string' ? body : ''
}
