// Maps a character of a YAML scalar to its place in the file, through folding, indentation and
// escapes.

/**
 * Maps by counting non-blank characters: YAML keeps those unchanged and in order, while white space
 * is folded and indented.
 *
 * @param source the scalar as written, from its first quote or its `|` on
 * @param character index in `value`; for white space, the next character counts
 * @returns index in `source`; the end, when no character follows
 */
export function placeInScalar(source: string, value: string, character: number): number {
  const wanted = signsIn(value.slice(0, character))
  let seen = 0
  let end = 0
  for (const { at, text, units } of partsOf(source)) {
    const signs = signsIn(text)
    if (signs === 0) continue
    if (seen + signs > wanted) return at
    seen += signs
    end = at + units
  }
  return end
}

interface Part {
  readonly at: number
  /** Code units in the source. */
  readonly units: number
  /** The text it stands for. */
  readonly text: string
}

function partsOf(source: string): Iterable<Part> {
  const [first] = source
  if (first === '|' || first === '>') {
    const header = source.indexOf('\n') + 1
    return plainParts(source, header === 0 ? source.length : header, source.length)
  }
  const end = source.length - 1
  if (first === "'") return singleParts(source, end)
  return first === '"' ? doubleParts(source, end) : plainParts(source, 0, source.length)
}

function* plainParts(source: string, from: number, end: number): Iterable<Part> {
  for (let at = from; at < end; at++) yield { at, units: 1, text: source[at]! }
}

function* singleParts(source: string, end: number): Iterable<Part> {
  for (let at = 1; at < end; at++) {
    const units = source.startsWith("''", at) ? 2 : 1
    yield { at, units, text: source[at]! }
    at += units - 1
  }
}

/** YAML 1.2.2 section 5.7. Escaped line breaks are dropped. */
const escapes = /\\(?:x([\da-fA-F]{2})|u([\da-fA-F]{4})|U([\da-fA-F]{8})|[^])/y

function* doubleParts(source: string, end: number): Iterable<Part> {
  for (let at = 1; at < end; at++) {
    escapes.lastIndex = at
    const escape = escapes.exec(source)
    if (escape === null) yield { at, units: 1, text: source[at]! }
    else {
      const [{ length: units }, x, u, long] = escape
      yield { at, units, text: meaningOf(escape[0][1]!, x ?? u ?? long) }
      at += units - 1
    }
  }
}

function meaningOf(letter: string, hex: string | undefined): string {
  if (hex === undefined) return 'tnvfr LP_'.includes(letter) ? ' ' : letter
  const code = Number.parseInt(hex, 16)
  return code > 0x10_ffff ? '' : String.fromCodePoint(code)
}

function signsIn(text: string): number {
  return text.replaceAll(/\s/g, '').length
}
