// Prints objects as JSON with one line for each named item, and reads that form. JSON is YAML;
// `JSON.parse` takes a tenth of the time.
import { piecesMax } from './parse.ts'

/** Values printed or read in this form. */
const printed = new WeakSet()

/** True when the value can be restored from its text by `JSON.parse`. */
export const isJsonLines = (value: object): boolean => printed.has(value)

/** Long lists are not written by hand; a change of one item is a change of one line. */
export function jsonLines(value: object): string {
  // Inside a JSON text, quotes would be escaped.
  const text = JSON.stringify(value)
  printed.add(value)
  return `${text.replaceAll('[{"name":', '[\n{"name":').replaceAll(',{"name":', ',\n{"name":')}\n`
}

/**
 * Reads the output of `jsonLines`. A text equal to the print of its value has each key once, and
 * equals YAML where `plainValue` finds no doubtful character.
 */
export function jsonLinesValue(text: string): object | undefined {
  if (!text.startsWith('{"') || isDeep(text)) return undefined
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined
  }
  if (typeof value !== 'object' || value === null) return undefined
  const isSame = piecesOf(value) <= piecesMax && jsonLines(value) === text
  return isSame ? value : undefined
}

/** No field of any schema is nested this deep. */
export const depthMax = 16
/** No field of any schema has a longer name. */
export const keyCharactersMax = 100

const quote = 0x22
const backslash = 0x5c
const [openList, closeList, openMapping, closeMapping] = [0x5b, 0x5d, 0x7b, 0x7d]

/**
 * Checked first: printing recurses as deep as the value, and parsing 1 MiB of brackets takes 0.5 s.
 */
function isDeep(text: string): boolean {
  let depth = 0
  let isQuoted = false
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code === quote) isQuoted = !isQuoted
    else if (isQuoted) i += code === backslash ? 1 : 0
    else if (code === openMapping || code === openList) {
      if (++depth > depthMax) return true
    } else if (code === closeMapping || code === closeList) depth--
  }
  return false
}

/** At least the number of pieces in YAML. Infinity: it has a too long key. */
function piecesOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 3
  let pieces = 4
  if (Array.isArray(value)) {
    for (const item of value) pieces += piecesOf(item)
    return pieces
  }
  for (const key in value) {
    if (key.length > keyCharactersMax) return Infinity
    pieces += 3 + piecesOf((value as Record<string, unknown>)[key])
  }
  return pieces
}
