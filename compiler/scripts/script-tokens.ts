// Splits a valid script into tokens.

export interface ScriptToken {
  readonly text: string
  /** Index in the body. */
  readonly at: number
  readonly isWord: boolean
  /** Index of the matching bracket's token; -1: not a bracket. */
  partner: number
}

/** Words after which a `/` begins a regular expression. */
const operators = new Set(
  'await case delete do else in instanceof new of return throw typeof void yield'.split(' '),
)
/** Words whose brackets are followed by a statement, which may begin with an expression. */
const heads = new Set(['if', 'while', 'for', 'with'])

/** The bracket of a template's value, which no other text has. */
const value = '${'
const isQuote = /^["']$/

const blank = /\s+|\/\/[^\n\r\u2028\u2029]*|\/\*[^]*?(?:\*\/|$)/y
const word = /[\p{ID_Start}$_\\][\p{ID_Continue}$\u200c\u200d\\]*/uy
const number = /\.?\d[\w.]*/y
const text = /'[^'\\]*(?:\\[^][^'\\]*)*'|"[^"\\]*(?:\\[^][^"\\]*)*"/y
/** Up to the end of the template, or to its next value. */
const template = /[^`\\$]*(?:(?:\\[^]|\$(?!\{))[^`\\$]*)*(?:`|\$\{)/y
const pattern = /\/(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/\w*/y
const sign = /=>|[=!]==?|[<>]=|\?\.(?!\d)|\?\?=?|\|\|=|&&=|\.\.\.|[^]/y

/**
 * @param body valid for the engine; for another one the tokens may be wrong
 * @returns the tokens; texts, numbers, comments and regular expressions are `''`
 */
export function scriptTokens(body: string): readonly ScriptToken[] {
  const tokens: ScriptToken[] = []
  const open: number[] = []
  let at = 0
  const take = (form: RegExp): string => {
    form.lastIndex = at
    const found = form.exec(body)?.[0] ?? ''
    at += found.length
    return found
  }
  const put = (shown: string, start: number, isWord = false): void => {
    tokens.push({ text: shown, at: start, isWord, partner: -1 })
  }
  while (at < body.length) {
    if (take(blank) !== '') continue
    const start = at
    const name = take(word)
    if (name !== '') put(name, start, true)
    else if (take(number) !== '' || take(text) !== '') put('', start)
    else if (body[at] === '/' && beginsValue(tokens)) {
      // An unterminated token ends the scan: following each of many to the end would take quadratic
      // time.
      if (take(pattern) === '') return tokens
      put('', start)
    } else {
      const shown = take(sign)
      const isEnd = shown === '}' && tokens[open.at(-1) ?? -1]?.text === value
      if (isQuote.test(shown)) return tokens
      if (shown !== '`') {
        put(shown, start)
        pair(tokens, open)
      }
      if (shown !== '`' && !isEnd) continue
      // The template continues after a value.
      const from = at
      const rest = take(template)
      if (rest === '') return tokens
      put(rest.endsWith(value) ? value : '', shown === '`' ? start : from)
      pair(tokens, open)
    }
  }
  return tokens
}

function pair(tokens: readonly ScriptToken[], open: number[]): void {
  const last = tokens.length - 1
  const { text: shown } = tokens[last]!
  if (/^(?:[([{]|\$\{)$/.test(shown)) open.push(last)
  if (!/^[)\]}]$/.test(shown)) return
  const partner = open.pop()
  if (partner === undefined) return
  tokens[last]!.partner = partner
  tokens[partner]!.partner = last
}

function beginsValue(tokens: readonly ScriptToken[]): boolean {
  const last = tokens.at(-1)
  if (last === undefined) return true
  const before = tokens.at(-2)
  if (last.isWord) return operators.has(last.text) && before?.text !== '.'
  // After `++` or `--` a `/` divides.
  const isCount = (last.text === '+' || last.text === '-') && before?.text === last.text
  if (isCount && before.at === last.at - 1) return false
  if (last.text === ')') return heads.has(tokens[last.partner - 1]?.text ?? '')
  return last.text !== '' && last.text !== ']'
}
