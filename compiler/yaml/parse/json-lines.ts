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
 * Reads what `jsonLines` prints. What is printed as it was read has each key once, and is the same
 * as YAML where `plainValue` finds no doubtful sign.
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

/** No field of any schema is nested so deep. */
export const depthMax = 16
/** No field of any schema has a longer name. */
export const keyCharactersMax = 100

const quote = 0x22
const backslash = 0x5c
const [openList, closeList, openMapping, closeMapping] = [0x5b, 0x5d, 0x7b, 0x7d]

/** Asked first: printing goes as deep as the value, and parsing 1 MiB of brackets takes 0.5 s. */
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

/** As many as YAML has, or more. Infinity: it has a long key. */
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
