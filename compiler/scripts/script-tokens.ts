// Cuts a script that can be read into its tokens.

export interface ScriptToken {
  readonly text: string
  /** Index in the body. */
  readonly at: number
  readonly isWord: boolean
  /** Position of the matching bracket among the tokens; -1: this token is no bracket. */
  partner: number
}

/** Behind these a `/` begins a regular expression, although they are words. */
const operators = new Set(
  'await case delete do else in instanceof new of return throw typeof void yield'.split(' '),
)
/** The brackets of these are followed by a statement, which may begin with an expression. */
const heads = new Set(['if', 'while', 'for', 'with'])

/** A value in a template stands in brackets that no other text has. */
const value = '${'
const isQuote = /^["']$/

const blank = /\s+|\/\/[^\n\r\u2028\u2029]*|\/\*[^]*?(?:\*\/|$)/y
const word = /[\p{ID_Start}$_\\][\p{ID_Continue}$\u200c\u200d\\]*/uy
const number = /\.?\d[\w.]*/y
const text = /'[^'\\]*(?:\\[^][^'\\]*)*'|"[^"\\]*(?:\\[^][^"\\]*)*"/y
/** Up to the end, or to the first value in it. */
const template = /[^`\\$]*(?:(?:\\[^]|\$(?!\{))[^`\\$]*)*(?:`|\$\{)/y
const pattern = /\/(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/\w*/y
const sign = /=>|[=!]==?|[<>]=|\?\.(?!\d)|\?\?=?|\|\|=|&&=|\.\.\.|[^]/y

/**
 * @param body that the engine can read; of another one the tokens may be wrong
 * @returns without texts, numbers, comments and regular expressions, which are `''`
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
      // What does not end ends the look, or each of many such signs would be followed to the end.
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
      // Behind the end of a value the template goes on.
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
  // What is counted up or down is divided, not followed by an expression.
  const isCount = (last.text === '+' || last.text === '-') && before?.text === last.text
  if (isCount && before.at === last.at - 1) return false
  if (last.text === ')') return heads.has(tokens[last.partner - 1]?.text ?? '')
  return last.text !== '' && last.text !== ']'
}
