// Finds missing quotes and unterminated quotes.
import type { YAMLError } from 'yaml'
import {
  closingQuote,
  lineAt,
  linesOf,
  openBrackets,
  openQuote,
  withoutComment,
} from '#compiler/yaml/parse/lines.ts'
import type { Line } from '#compiler/yaml/parse/lines.ts'
import { insertAt, mistake } from './mistake.ts'
import type { Mistake } from './mistake.ts'

/** A text over several lines is valid YAML: its last quote is at the end of a line. */
export function openQuoteMistake(text: string, error: YAMLError): Mistake | undefined {
  const isSure = error.message.startsWith('Missing closing')
  let blockIndent = Infinity
  let skipTo = 0
  for (const line of linesOf(text)) {
    if (!isSure && line.start > error.pos[0]) return undefined
    if (line.text.trim() === '' || line.start < skipTo) continue
    if (line.indent > blockIndent) continue
    blockIndent = /(?:^|\s)[|>][+-]?\d*$/.test(line.content) ? line.indent : Infinity
    const column = openQuote(line)
    if (column === undefined) continue
    const at = line.start + column
    const close = closingQuote(text, at)
    if (close >= 0 && endsValue(text, close)) skipTo = close
    else return unclosed(text, line, at)
  }
  return undefined
}

function endsValue(text: string, close: number): boolean {
  const { start, text: words } = lineAt(text, close)
  return /^\s*(?:[,\]}:].*|#.*)?$/.test(words.slice(close + 1 - start))
}

function unclosed(text: string, { start, text: words }: Line, at: number): Mistake {
  const column = at - start
  const rest = words.slice(column)
  const inFlow = openBrackets(text, at).length > 0
  const value = inFlow ? inBrackets(rest) : withoutComment(rest)
  const write = `${value}${rest[0]}`
  return mistake('yaml-quote-open', [at, 1], [write], insertAt(at + value.length, rest[0]!))
}

/** A value that starts with a YAML indicator, or contains a colon and a space. */
export function quotesNeeded(text: string, at: number): Mistake | undefined {
  const line = lineAt(text, at)
  const rest = line.text.slice(at - line.start)
  const inFlow = openBrackets(text, at).length > 0
  const words = withoutComment(rest)
  const value = inFlow ? inBrackets(words) : words
  const isSign = /^[@`%|>]/.test(value)
  if (value === '' || (inFlow && !isSign)) return undefined
  const sign = isSign ? `"${value[0]}"` : '": "'
  const write = quoted(value)
  const edit = { at, remove: value.length, insert: write }
  return mistake('yaml-quotes-needed', [at, value.length], [sign, write], edit)
}

/** In brackets, a value ends at a comma or a bracket. */
function inBrackets(rest: string): string {
  return (/^[^,}\]]*/.exec(rest)?.[0] ?? '').trimEnd()
}

function quoted(value: string): string {
  return /["\\]/.test(value) ? `'${value.replaceAll("'", "''")}'` : `"${value}"`
}
