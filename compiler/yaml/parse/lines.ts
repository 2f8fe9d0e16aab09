// Splits a YAML text into lines with their offsets and indentation, and finds open brackets and
// quotes.
import { CST, Lexer } from 'yaml'

export interface Line {
  /** Offset in the text. */
  readonly start: number
  /** Without the line end. */
  readonly text: string
  /** Width of leading white space. */
  readonly indent: number
  /** Columns of its leading dashes, from 0. */
  readonly dashes: readonly number[]
  /** Column of the text after the dashes, from 0. */
  readonly column: number
  /** Text from there on, without a trailing comment. */
  readonly content: string
}

export function lineAt(text: string, offset: number): Line {
  // At offset 0, `lastIndexOf` would find a line end at 0.
  const start = offset === 0 ? 0 : text.lastIndexOf('\n', offset - 1) + 1
  const end = text.indexOf('\n', offset)
  return lineOf(start, text.slice(start, end < 0 ? undefined : end).replace(/\r$/, ''))
}

/** The next line below with content; undefined at the end. */
export function lineBelow(text: string, { start }: Line): Line | undefined {
  for (let at = text.indexOf('\n', start) + 1; at > 0; at = text.indexOf('\n', at) + 1) {
    const line = lineAt(text, at)
    if (line.content !== '') return line
  }
  return undefined
}

/** The lines above with content, nearest first. */
export function* linesAbove(text: string, { start }: Line): Generator<Line> {
  for (let at = start; at > 0;) {
    const line = lineAt(text, at - 1)
    if (line.content !== '') yield line
    at = line.start
  }
}

export function* linesOf(text: string): Generator<Line> {
  for (let at = 0; at <= text.length;) {
    yield lineAt(text, at)
    const end = text.indexOf('\n', at)
    if (end < 0) return
    at = end + 1
  }
}

function lineOf(start: number, text: string): Line {
  const indent = text.length - text.trimStart().length
  const dashes: number[] = []
  let column = indent
  while (text.startsWith('- ', column) || text.slice(column) === '-') {
    dashes.push(column)
    const rest = text.slice(column + 1)
    column = text.length - rest.trimStart().length
  }
  const content = withoutComment(text.slice(column))
  return { start, text, indent, dashes, column, content }
}

/** @param text one line */
export function withoutComment(text: string): string {
  return text.slice(0, commentStart(text)).trimEnd()
}

/** Offset of a `#` at the start or after white space; without one, the end of the text. */
function commentStart(text: string): number {
  for (let at = text.indexOf('#'); at >= 0; at = text.indexOf('#', at + 1)) {
    if (at === 0 || /\s/.test(text[at - 1]!)) return at
  }
  return text.length
}

/** Tokens of the library's lexer besides the text itself. */
const marks: readonly string[] = [CST.DOCUMENT, CST.FLOW_END, CST.SCALAR]

interface OpenBracket {
  readonly sign: string
  readonly at: number
}

/** Brackets still open at `end`, the innermost last. */
export function openBrackets(text: string, end: number): readonly OpenBracket[] {
  const open: OpenBracket[] = []
  let at = 0
  for (const piece of new Lexer().lex(text)) {
    if (marks.includes(piece)) continue
    if (at >= end) break
    if (piece === '{' || piece === '[') open.push({ sign: piece, at })
    else if (piece === '}' || piece === ']') open.pop()
    at += piece.length
  }
  return open
}

/** Offset of a quote that opens a value and is not closed on its line. */
export function openQuote({ text }: Line): number | undefined {
  const opening = /(?:^|[:,[{-])\s*(["'])/g
  const comment = commentStart(text)
  for (let found = opening.exec(text); found !== null; found = opening.exec(text)) {
    const at = opening.lastIndex - 1
    if (comment < at) return undefined
    const before = text[at - 1]
    if (before !== undefined && !/[\s,[{]/.test(before)) continue
    const close = closingQuote(text, at)
    if (close < 0) return at
    opening.lastIndex = close + 1
  }
  return undefined
}

/** @returns the offset of the quote that closes the one at `at`; -1: none */
export function closingQuote(text: string, at: number): number {
  const quote = text[at]
  for (let i = at + 1; i < text.length; i++) {
    if (quote === '"' && text[i] === '\\') i++
    else if (text[i] === quote) {
      if (quote !== "'" || text[i + 1] !== "'") return i
      i++
    }
  }
  return -1
}
