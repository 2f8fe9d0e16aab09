// Finds a key that occurs twice in an object of a JSON text, of which `JSON.parse` takes the last
// one.

/** An open object or array. */
interface Level {
  /** null: an array. */
  readonly names: Names | null
  /** Index of the current element of an array. */
  index: number
}

/**
 * @param json a text that `JSON.parse` accepts; the time is linear in its length
 *
 * @returns the first such place, as `spec.name`; undefined: there is none
 */
export function repeatedKeyIn(json: string): string | undefined {
  const levels: Level[] = []
  for (let i = 0; i < json.length; i++) {
    const code = json.charCodeAt(i)
    if (code === quote) {
      const end = endOfString(json, i)
      const names = isKey(json, end) ? levels.at(-1)?.names : undefined
      if (names?.add(textOf(json.slice(i, end + 1))) === false) {
        return levels.map(({ names, index }) => names?.last ?? index).join('.')
      }
      i = end
    } else if (code === openBrace) levels.push({ names: new Names(), index: 0 })
    else if (code === openBracket) levels.push({ names: null, index: 0 })
    else if (code === closeBrace || code === closeBracket) levels.pop()
    else if (code === comma) levels.at(-1)!.index++
  }
  return undefined
}

const quote = 0x22
const comma = 0x2c
const colon = 0x3a
const openBracket = 0x5b
const backslash = 0x5c
const closeBracket = 0x5d
const openBrace = 0x7b
const closeBrace = 0x7d

/** Up to so many names a list is searched faster than a set is made. */
const fewNames = 16

class Names {
  readonly #few: string[] = []
  #many: Set<string> | null = null
  last = ''

  /** @returns false: the name occurred before */
  add(name: string): boolean {
    this.last = name
    if (this.#many === null && this.#few.length === fewNames) this.#many = new Set(this.#few)
    const isThere = this.#many?.has(name) ?? this.#few.includes(name)
    if (this.#many === null) this.#few.push(name)
    else this.#many.add(name)
    return !isThere
  }
}

/** @returns the offset of the closing quote */
function endOfString(json: string, start: number): number {
  for (let end = json.indexOf('"', start + 1); ; end = json.indexOf('"', end + 1)) {
    let before = end - 1
    while (json.charCodeAt(before) === backslash) before--
    // An even number of backslashes escapes only themselves.
    if ((end - before) % 2 === 1) return end
  }
}

/** Only a key is followed by a colon. */
function isKey(json: string, end: number): boolean {
  let next = end + 1
  while (json.charCodeAt(next) <= 0x20) next++
  return json.charCodeAt(next) === colon
}

/** `"a"` and `"\u0061"` are the same key. */
function textOf(literal: string): string {
  return literal.includes('\\') ? (JSON.parse(literal) as string) : literal.slice(1, -1)
}
