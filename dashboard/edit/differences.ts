// Finds the fields in which two versions of an object differ.

export interface Difference {
  readonly field: string
  readonly before: unknown
  readonly after: unknown
}

type Fields = Readonly<Record<string, unknown>>

export function differencesOf(before: Fields, after: Fields): Difference[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])]
  return names
    .filter((field) => !isSame(before[field], after[field]))
    .map((field) => ({ field, before: before[field], after: after[field] }))
}

/** @param part a field of it; empty: the whole */
export function partOf(body: unknown, part: string): unknown {
  if (part === '' || body === null || typeof body !== 'object') return body
  return part in body ? (body as Fields)[part] : body
}

/** @returns theirs, with the fields in which `mine` differs from what both began with */
export function merged(mine: Fields, begun: Fields, theirs: Fields): Fields {
  const changed = differencesOf(begun, mine).map(({ field, after }) => [field, after] as const)
  return { ...theirs, ...Object.fromEntries(changed) }
}

export function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(a ?? null) === JSON.stringify(b ?? null)
}
