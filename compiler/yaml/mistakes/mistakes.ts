// Translates errors of the YAML library into the mistake that a person made, with its remedy and
// the mended text.
import type { YAMLError } from 'yaml'
import { bracketMistake, commaMistake, extraBracket } from './brackets.ts'
import { deeperLine, reindented } from './indentation.ts'
import { lineAt, linesOf, openBrackets } from '#compiler/yaml/parse/lines.ts'
import type { Line } from '#compiler/yaml/parse/lines.ts'
import { insertAt, mistake } from './mistake.ts'
import type { Edit, Mistake } from './mistake.ts'
import { openQuoteMistake, quotesNeeded } from './quotes.ts'

/** @param error the first one of the text */
export function mistakeIn(text: string, error: YAMLError): Mistake {
  const [at] = error.pos
  const line = lineAt(text, at)
  return (
    openQuoteMistake(text, error) ??
    byCode[error.code]?.(text, error, line) ??
    signMissing(line) ??
    asItIs(error)
  )
}

type Reader = (text: string, error: YAMLError, line: Line) => Mistake | undefined

const byCode: Readonly<Partial<Record<YAMLError['code'], Reader>>> = Object.freeze({
  TAB_AS_INDENT: tabs,
  MULTIPLE_DOCS: (_, { pos: [at] }) => mistake('yaml-several-documents', [at, 3], []),
  // A bare * or & at the start of a value.
  BAD_ALIAS: (_, { pos: [start, end] }) => mistake('yaml-anchor', [start, end - start], []),
  BAD_DQ_ESCAPE: badEscape,
  BLOCK_IN_FLOW: commaMistake,
  BAD_SCALAR_START: (text, error, line) => strayLine(line) ?? quotesNeeded(text, error.pos[0]),
  UNEXPECTED_TOKEN: (text, error) => extraBracket(text, error) ?? textAfter(text, error),
  BLOCK_AS_IMPLICIT_KEY: (text, { pos: [at] }, line) =>
    signMissing(line) ??
    (/:(\s|$)/.test(line.text.slice(at - line.start)) && at > line.start + line.column
      ? quotesNeeded(text, at)
      : (deeperLine(text, line) ?? reindented(text, line))),
  BAD_INDENT: (text, error, line) =>
    bracketMistake(text, error) ?? gluedDash(line) ?? reindented(text, line),
  MISSING_CHAR: (text, error, line) =>
    error.message.startsWith('Comments') ? spaceBefore(error.pos[0]) : reindented(text, line),
  MULTILINE_IMPLICIT_KEY: (text, error, line) =>
    openBrackets(text, error.pos[0]).length > 0
      ? commaMistake(text, error)
      : (signMissing(line) ?? reindented(text, line)),
})

/** The library's own message, when nothing better is known. */
function asItIs({ message, pos: [start, end] }: YAMLError): Mistake {
  const first = message.split('\n', 1)[0] ?? ''
  const sentence = first.charAt(0).toLowerCase() + first.slice(1).replace(/\.$/, '')
  return mistake('yaml-syntax', [start, end - start], [sentence])
}

/** Finds a missing colon, or a missing space after a colon or a dash. */
function signMissing(line: Line): Mistake | undefined {
  const { content, column, start } = line
  const place = start + column
  const dash = gluedDash(line)
  if (dash !== undefined) return dash
  const glued = /^([A-Za-z][\w-]*):(?!\/\/)(?=\S)/.exec(content)
  if (glued !== null) {
    const colon = glued[1]!.length
    const write = `${glued[1]}: ${content.slice(colon + 1)}`
    const edit = insertAt(place + colon + 1, ' ')
    return mistake('yaml-space-missing', [place + colon, 1], ['colon', write], edit)
  }
  return strayLine(line) ?? colonMissing(line)
}

function gluedDash({ content, column, start }: Line): Mistake | undefined {
  if (!/^-(?=[A-Za-z"'{[])/.test(content)) return undefined
  const place = start + column
  const write = `- ${content.slice(1)}`
  return mistake('yaml-space-missing', [place, 1], ['dash', write], insertAt(place + 1, ' '))
}

function colonMissing({ content, column, start, text }: Line): Mistake | undefined {
  const [, word = '', sign, value] =
    /^([A-Za-z][\w-]*)(?:\s*(=)\s*|\s+|$)(.*)$/s.exec(content) ?? []
  if (word === '' || content.includes(': ') || content.endsWith(':')) return undefined
  const place = start + column
  const write = `${word}: ${value}`.trimEnd()
  const edit = { at: place, remove: text.trimEnd().length - column, insert: write }
  return mistake('yaml-colon-missing', [place, content.length], [word, write], {
    ...edit,
    remove: content.length,
    insert: sign === undefined || value !== '' ? write : `${word}:`,
  })
}

/** Finds leftovers of editors and shells: a Markdown fence, the end of a here-document. */
function strayLine({ content, column, start, text }: Line): Mistake | undefined {
  if (column > 0 || !/^(?:```\w*|EOF|END)$/.test(content)) return undefined
  const edit = { at: start, remove: text.length, insert: '' }
  return mistake('yaml-stray-line', [start, content.length], [content], edit)
}

function spaceBefore(at: number): Mistake {
  const edit = insertAt(at, ' ')
  return mistake('yaml-space-missing', [at, 1], ['value', '" #" in front of the comment'], edit)
}

function badEscape(text: string, { pos: [at] }: YAMLError): Mistake {
  const escape = text.slice(at, at + 2)
  return mistake('yaml-escape', [at, 2], [escape, `\\${escape}`], insertAt(at, '\\'))
}

/** `"a" b`: quotes must enclose a whole value or none of it. */
function textAfter(text: string, { message, pos: [at] }: YAMLError): Mistake | undefined {
  if (message.startsWith('Unexpected block-seq-ind on same line')) {
    const words = 'a list cannot start in the line of its field: begin a new line with its dash'
    return mistake('yaml-syntax', [at, 1], [words])
  }
  if (!message.endsWith('at node end')) return undefined
  const line = lineAt(text, at)
  const length = line.start + line.text.length - at
  const sign = text.slice(line.start, at).trimEnd().at(-1) ?? ''
  if (!`"'}]`.includes(sign)) return undefined
  const rest = text.slice(at, at + length).trimEnd()
  const edit = { at, remove: length, insert: '' }
  return mistake('yaml-text-after', [at, rest.length], [sign], edit)
}

function tabs(text: string, { pos: [at] }: Pick<YAMLError, 'pos'>): Mistake | undefined {
  const edits: Edit[] = []
  let lines = 0
  let first: number | undefined
  for (const { start, indent, text: words } of linesOf(text)) {
    const before = words.slice(0, indent)
    if (!before.includes('\t') || words.trim() === '') continue
    lines++
    first ??= start + before.indexOf('\t')
    edits.push({ at: start, remove: indent, insert: before.replaceAll('\t', '  ') })
  }
  if (first === undefined) return mistake('yaml-tab', [at, 1], ['the line starts'])
  const args = [lines === 1 ? 'the line starts' : `this line and ${lines - 1} more start`]
  return { ...mistake('yaml-tab', [first, 1], args, ...edits), isGuess: true }
}

/** An indented document marker becomes the first word of a text that continues below. */
export function indentedMark(text: string): readonly Mistake[] {
  for (const { start, text: words } of linesOf(text)) {
    if (/^\s*(?:#|$)/.test(words)) continue
    const indent = /^ +(?=---(?:\s|$))/.exec(words)?.[0].length ?? 0
    if (indent === 0) return []
    const sentence = '"---" begins a document only where its line begins: remove what is before it'
    const edit = { at: start, remove: indent, insert: '' }
    return [mistake('yaml-syntax', [start + indent, 3], [sentence], edit)]
  }
  return []
}

/** Finds merge conflicts with both sides; the first side, the earlier state, is read on. */
export function mergeConflicts(text: string, max: number): readonly Mistake[] {
  if (!/^<{7}(?: |\r?$)/m.test(text)) return []
  const found: Mistake[] = []
  let open: { readonly start: number; readonly line: number; readonly text: string } | undefined
  let cut = -1
  let number = 0
  for (const { start, text: words } of linesOf(text)) {
    number++
    if (found.length === max) break
    if (/^<{7}(?: |$)/.test(words)) open = { start, line: number, text: words }
    else if (open === undefined) continue
    else if (/^(?:={7}|\|{7} .*)$/.test(words) && cut < 0) cut = start
    else if (/^>{7}(?: |$)/.test(words)) {
      const first = { at: open.start, remove: open.text.length, insert: '' }
      const from = cut < 0 ? start : cut
      const second = { at: from, remove: start + words.length - from, insert: '' }
      found.push(mistake('yaml-merge-conflict', [open.start, 7], [String(number)], first, second))
      open = undefined
      cut = -1
    }
  }
  return found
}
