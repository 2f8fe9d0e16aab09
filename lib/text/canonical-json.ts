// Writes canonical JSON: one text for each value, the form in which manifests are signed and
// digested.

export type Json =
  string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json }

/** Sorts keys by code units, without white space, with numbers as ECMAScript prints them. */
export function canonicalJson(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  if (typeof value === 'object' && value !== null) {
    const record = value as { readonly [key: string]: Json }
    const entries = Object.keys(record)
      .sort()
      .map((key) => `${JSON.stringify(key)}:${canonicalJson(record[key]!)}`)
    return `{${entries.join(',')}}`
  }
  return JSON.stringify(value)
}
