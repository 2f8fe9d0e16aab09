// Splits rdata in presentation form into tokens. RFC 1035 section 5.1.
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'

export interface Token {
  /** As written, escapes included, without the surrounding quotes. */
  readonly text: string
  readonly isQuoted: boolean
  /** Column of the first character, from 1; for a quoted token, of its opening quote. */
  readonly column: number
}

interface ScannedToken extends Token {
  /** Characters of the text before what follows the token. */
  readonly end: number
}

/** The tokens of one rdata, and the column where one more would stand. */
export interface RdataText {
  readonly tokens: readonly Token[]
  readonly endColumn: number
}

export interface RdataFault {
  /** Inside the text, counted from 1. */
  readonly column: number
  /** What should stand there, as words that go on after "expected". */
  readonly expected: string
}

/** Four characters for each of 65,535 octets (`\DDD`), and room for separators. */
const rdataTextCharactersMax = 327_680

/** Splits one value as a configuration has it: no comments, no parentheses. */
export function tokensOf(text: string): Result<RdataText, RdataFault> {
  if (text.length > rdataTextCharactersMax) {
    return err({
      column: rdataTextCharactersMax + 1,
      expected: `at most ${rdataTextCharactersMax} characters`,
    })
  }
  const tokens: Token[] = []
  let at = 0
  while (at < text.length) {
    const character = text[at]!
    if (isWhite(character)) {
      at++
      continue
    }
    const strange = strangers[character]
    if (strange !== undefined) return err({ column: at + 1, expected: strange })
    const scanned = scanToken(text, at)
    if (!scanned.ok) return scanned
    tokens.push(scanned.value)
    at = scanned.value.end
  }
  return ok({ tokens, endColumn: text.trimEnd().length + 1 })
}

const isWhite = (character: string): boolean =>
  character === ' ' || character === '\t' || character === '\r' || character === '\n'

/** Characters of zone files that a single value may not have, and what to write instead. */
const strangers: Readonly<Record<string, string>> = {
  ';': 'quotes around a text that has a semicolon, or \\; for one',
  '(': 'quotes around a text that has a parenthesis: only zone files group with them',
  ')': 'quotes around a text that has a parenthesis: only zone files group with them',
}

/** Character codes: comparing one-character texts made long files slow. */
const sign = { quote: 0x22, backslash: 0x5c, equals: 0x3d, lf: 0x0a, cr: 0x0d } as const

/** True at white space, `;`, parentheses, and at the end of the text (NaN). */
function endsToken(code: number): boolean {
  if (code > 0x3b) return false
  return code <= 0x20
    ? code === 0x20 || code === 0x09 || isLineEnd(code)
    : code === 0x3b || code === 0x28 || code === 0x29 || Number.isNaN(code)
}

/**
 * Reads the token that begins at `start`. A quote inside a token may only follow `=`, as in
 * `alpn="h2,h3"` (RFC 9460 section 2.1), and stays in its text.
 *
 * @param mayTouch texts may follow one another without white space, as in zone files of others
 */
export function scanToken(
  text: string,
  start: number,
  mayTouch = false,
): Result<ScannedToken, RdataFault> {
  const column = start + 1
  if (text.charCodeAt(start) === sign.quote) {
    const close = closingQuote(text, start, mayTouch)
    if (!close.ok) return close
    const { value } = close
    return ok({ text: text.slice(start + 1, value), isQuoted: true, column, end: value + 1 })
  }
  let at = start
  for (;;) {
    const code = text.charCodeAt(at)
    if (endsToken(code)) break
    if (code === sign.backslash) {
      at += isLineEnd(text.charCodeAt(at + 1)) ? 1 : 2
    } else if (code !== sign.quote) {
      at++
    } else if (text.charCodeAt(at - 1) === sign.equals) {
      const close = closingQuote(text, at, false)
      if (!close.ok) return close
      at = close.value + 1
    } else {
      return err({ column: at + 1, expected: 'white space before a quote, or \\" for one' })
    }
  }
  return ok({ text: text.slice(start, at), isQuoted: false, column, end: at })
}

/** The code is NaN at the end of the text, which counts as a line end. */
const isLineEnd = (code: number): boolean =>
  code === sign.lf || code === sign.cr || Number.isNaN(code)

function closingQuote(text: string, open: number, mayTouch: boolean): Result<number, RdataFault> {
  let at = open + 1
  for (;;) {
    const code = text.charCodeAt(at)
    if (code === sign.quote) break
    if (isLineEnd(code)) {
      return err({ column: open + 1, expected: 'a closing quote on the same line' })
    }
    at += code === sign.backslash && !isLineEnd(text.charCodeAt(at + 1)) ? 2 : 1
  }
  const next = text.charCodeAt(at + 1)
  if (!endsToken(next) && !(mayTouch && next === sign.quote)) {
    return err({ column: at + 2, expected: 'white space after the closing quote' })
  }
  return ok(at)
}
