// Checks a NAPTR substitution: a POSIX extended regular expression and its replacement. RFC 3402
// section 3.2.

/**
 * Accepts an empty text, too: the rule has no substitution.
 *
 * @param text octets as Latin-1, at most 255
 */
export function isSubstitution(text: string): boolean {
  if (text === '') return true
  const parts = partsOf(text)
  if (parts === undefined) return false
  const [pattern, replacement, flags] = parts
  if (!/^i*$/.test(flags)) return false
  const groups = new PatternReader(pattern).groups()
  if (groups === undefined) return false
  return [...replacement.matchAll(/\\(.)/gs)].every(([, character]) => {
    return !/\d/.test(character!) || (character !== '0' && Number(character) <= groups)
  })
}

/** The parts between the three delimiters; an escaped delimiter ends no part. */
function partsOf(text: string): readonly [string, string, string] | undefined {
  const delimiter = text[0]!
  // RFC 3402 allows any delimiter but digits and flags; a backslash would escape itself.
  if (/[0-9i\\]/.test(delimiter) || text.includes('\0')) return undefined
  const parts = ['']
  for (let at = 1; at < text.length; at++) {
    const isEscape = text[at] === '\\' && parts.length < 3
    if (isEscape && at + 1 === text.length) return undefined
    if (text[at] === delimiter) parts.push('')
    else parts[parts.length - 1] += isEscape ? text.slice(at, ++at + 1) : text[at]!
  }
  const [pattern, replacement, flags] = parts
  if (parts.length !== 3) return undefined
  return [pattern!, replacement!, flags!]
}

const classes = 'alnum alpha blank cntrl digit graph lower print punct space upper xdigit'.split(
  ' ',
)
const boundMax = 255

/**
 * Reads an extended regular expression, IEEE Std 1003.1 section 9.4, and accepts only what all
 * implementations read alike: no empty branch, no repetition of a repetition.
 */
class PatternReader {
  readonly #text: string
  #at = 0
  #closed = 0

  constructor(text: string) {
    this.#text = text
  }

  /** The number of groups; undefined: not an expression. */
  groups(): number | undefined {
    return this.#alternatives() && this.#at === this.#text.length ? this.#closed : undefined
  }

  #alternatives(): boolean {
    do if (!this.#branch()) return false
    while (this.#takes('|'))
    return true
  }

  #branch(): boolean {
    let atoms = 0
    while (this.#at < this.#text.length && !'|)'.includes(this.#text[this.#at]!)) {
      if (!this.#atom() || !this.#repetition()) return false
      atoms++
    }
    return atoms > 0
  }

  #atom(): boolean {
    const character = this.#text[this.#at++]!
    if (character === '(') {
      if (!this.#alternatives() || !this.#takes(')')) return false
      this.#closed++
      return true
    }
    if (character === '[') return this.#bracket()
    if (character !== '\\') return !'*+?{'.includes(character)
    const escaped = this.#text[this.#at++]
    if (escaped === undefined) return false
    return !/[1-9]/.test(escaped) || Number(escaped) <= this.#closed
  }

  /** Reads at most one repetition: implementations differ on two in a row. */
  #repetition(): boolean {
    const sign = this.#text[this.#at] ?? ''
    if (sign === '' || !'*+?{'.includes(sign)) return true
    if (/[\^$]/.test(this.#text[this.#at - 1]!) && this.#text[this.#at - 2] !== '\\') return false
    const bound = /^(?:[*+?]|\{(\d{1,3})(?:(,)(\d{1,3})?)?\})/.exec(this.#text.slice(this.#at))
    if (bound === null) return false
    this.#at += bound[0].length
    const low = Number(bound[1] ?? 0)
    const high = Number(bound[3] ?? low)
    const next = this.#text[this.#at] ?? ''
    return low <= high && high <= boundMax && (next === '' || !'*+?{'.includes(next))
  }

  /** Reads a bracket expression behind its `[`. */
  #bracket(): boolean {
    this.#takes('^')
    for (let isFirst = true; isFirst || this.#text[this.#at] !== ']'; isFirst = false) {
      const start = this.#bracketItem()
      if (start === undefined) return false
      if (this.#text[this.#at] !== '-' || this.#text[this.#at + 1] === ']') continue
      this.#at++
      const end = this.#bracketItem()
      if (end === undefined || start === '' || end === '' || start > end) return false
      if (this.#text[this.#at] === '-' && this.#text[this.#at + 1] !== ']') return false
    }
    this.#at++
    return true
  }

  /** A character, or '' for a class of characters. */
  #bracketItem(): string | undefined {
    const character = this.#text[this.#at++]
    if (character !== '[' || !':.='.includes(this.#text[this.#at] ?? ' ')) return character
    const name = /^:([a-z]+):\]/.exec(this.#text.slice(this.#at))
    if (name === null || !classes.includes(name[1]!)) return undefined
    this.#at += name[0].length
    return ''
  }

  #takes(character: string): boolean {
    if (this.#text[this.#at] !== character) return false
    this.#at++
    return true
  }
}
