// Prints objects as JSON with a line for each item that has a name, and reads what is so printed.
// JSON is YAML, too; `JSON.parse` needs a tenth of the time.
import { piecesMax } from './parse.ts'

/** Values that were printed, or read, so. */
const printed = new WeakSet()

/** What the text of such a value says can be had again at any time, by `JSON.parse`. */
export const isJsonLines = (value: object): boolean => printed.has(value)

/** Nobody writes a long list by hand; a change of one item is a change of one line. */
export function jsonLines(value: object): string {
  // Inside a text the quotes would stand behind backslashes.
  const text = JSON.stringify(value)
  printed.add(value)
  return `${text.replaceAll('[{"name":', '[\n{"name":').replaceAll(',{"name":', ',\n{"name":')}\n`
}

/**
 * Reads what `jsonLines` prints. What is printed as it was read has each key once, and says nothing
 * in a way in which YAML would take it otherwise, as far as the text holds no doubtful signs.
 */
export function jsonLinesValue(text: string): object | undefined {
  if (!text.startsWith('{"')) return undefined
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined
  }
  if (typeof value !== 'object' || value === null) return undefined
  const isSame = jsonLines(value) === text && piecesOf(value, 0) <= piecesMax
  return isSame ? value : undefined
}

/** No field of any schema is nested so deep. */
export const depthMax = 16
/** No field of any schema has a longer name. */
export const keyCharactersMax = 100

/** As many as YAML has, or more. Infinity: it is nested too deeply, or has a long key. */
function piecesOf(value: unknown, depth: number): number {
  if (typeof value !== 'object' || value === null) return 3
  if (depth === depthMax) return Infinity
  let pieces = 4
  if (Array.isArray(value)) {
    for (const item of value) pieces += piecesOf(item, depth + 1)
    return pieces
  }
  for (const key in value) {
    if (key.length > keyCharactersMax) return Infinity
    pieces += 3 + piecesOf((value as Record<string, unknown>)[key], depth + 1)
  }
  return pieces
}
