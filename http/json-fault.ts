// Finds the place at which a text stops being JSON (RFC 8259): `JSON.parse` tells it for some
// faults only.

const space = /[ \t\n\r]*/y
const plain = /[^"\\\u0000-\u001f]*/y
const escape = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y
const scalar = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y

/** What may follow: `…OrEnd` right after an opening bracket, `next` after a value. */
type Wanted = 'value' | 'valueOrEnd' | 'key' | 'keyOrEnd' | 'colon' | 'next'

/**
 * Takes time in proportion to the length.
 *
 * @returns the offset of what cannot stand there: a token, or a character within a string; the
 * length: the text ends early, or is JSON
 */
export function jsonFaultAt(text: string): number {
  const open: ('[' | '{')[] = []
  let wanted: Wanted = 'value'
  for (let at = endOf(space, text, 0); ; at = endOf(space, text, at)) {
    const sign = text[at]
    const within = open.at(-1)
    if (sign === undefined || (wanted === 'next' && within === undefined)) return at
    const isKey: boolean = wanted === 'key' || wanted === 'keyOrEnd'
    const isEnd = sign === (within === '[' ? ']' : '}')
    if (isEnd && (wanted === 'next' || wanted === 'valueOrEnd' || wanted === 'keyOrEnd')) {
      open.pop()
      wanted = 'next'
      at++
    } else if (wanted === 'colon' || wanted === 'next') {
      if (sign !== (wanted === 'colon' ? ':' : ',')) return at
      wanted = wanted === 'next' && within === '{' ? 'key' : 'value'
      at++
    } else if (sign === '"') {
      const end = endOfString(text, at + 1)
      if (text[end] !== '"') return end
      wanted = isKey ? 'colon' : 'next'
      at = end + 1
    } else if (isKey) {
      return at
    } else if (sign === '[' || sign === '{') {
      open.push(sign)
      wanted = sign === '[' ? 'valueOrEnd' : 'keyOrEnd'
      at++
    } else {
      const end = endOf(scalar, text, at)
      if (end === at) return at
      wanted = 'next'
      at = end
    }
  }
}

/** @returns the offset of the closing quote, or of what cannot stand in a string */
function endOfString(text: string, from: number): number {
  for (let at = from; ;) {
    const end = endOf(plain, text, at)
    at = endOf(escape, text, end)
    if (at === end) return end
  }
}

/** @returns where the match at this place ends; the place itself: there is none */
function endOf(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at
  return pattern.test(text) ? pattern.lastIndex : at
}

/** Completes "is not JSON": where it stops to be, lines and columns counted from 1. */
export function jsonFaultPlace(text: string): string {
  const at = jsonFaultAt(text)
  if (at === text.length) return 'it ends too early'
  const before = text.slice(0, at).split('\n')
  return `see line ${before.length}, column ${before.at(-1)!.length + 1}`
}
