// Finds missing and surplus brackets of { } and [ ], and commas between them.
import type { YAMLError } from 'yaml'
import { lineAt, linesAbove, openBrackets } from '#compiler/yaml/parse/lines.ts'
import { insertAt, mistake } from './mistake.ts'
import type { Mistake } from './mistake.ts'

const closing: Readonly<Record<string, string>> = Object.freeze({ '{': '}', '[': ']' })

export function bracketMistake(text: string, { message, pos }: YAMLError): Mistake | undefined {
  if (!message.startsWith('Flow')) return undefined
  const open = openBrackets(text, pos[0]).at(-1)
  if (open === undefined) return undefined
  const line = lineAt(text, pos[0])
  const [above] = linesAbove(text, line)
  const close = closing[open.sign]!
  if (line.content.startsWith(close)) {
    const column = lineAt(text, open.at).indent + 2
    const args = [
      line.indent === 0 ? 'no space' : `${line.indent} spaces`,
      `indent it by ${column} spaces`,
    ]
    const edit = { at: line.start, remove: line.indent, insert: ' '.repeat(column) }
    return mistake('yaml-indentation', [line.start + line.indent, 1], args, edit)
  }
  // The text may end on the line of the bracket.
  const last = line.content === '' || line.start <= open.at ? (above ?? line) : (above ?? line)
  const end = last.start + last.column + last.content.length
  return mistake('yaml-bracket-open', [open.at, 1], [open.sign, close], insertAt(end, close))
}

export function extraBracket(text: string, { message, pos: [at] }: YAMLError): Mistake | undefined {
  const sign = text[at] ?? ''
  if (!/^Unexpected flow-(?:seq|map)-end/.test(message) || !']}'.includes(sign)) return undefined
  const opening = sign === '}' ? '{' : '['
  const edit = { at, remove: 1, insert: '' }
  return mistake('yaml-bracket-extra', [at, 1], [sign, opening], edit)
}

/** Bounded: an endless run of white space would be searched again from each character. */
const commaSearchMax = 1_000

/** `{ a: 1 b: 2 }`: the second key was read as a part of the first value. */
export function commaMistake(text: string, { pos: [at] }: YAMLError): Mistake | undefined {
  if (openBrackets(text, at + 1).length === 0) return undefined
  const near = text.slice(at, at + commaSearchMax)
  const next = /\s+(?=(["']?)([A-Za-z][\w-]*)\1\s*:)/g
  const found = next.exec(near)
  if (found === null) return undefined
  const place = at + found.index
  const start = at + next.lastIndex
  const [name = ''] = /^["']?[A-Za-z][\w-]*["']?/.exec(text.slice(start)) ?? []
  const span = [start, name.length] as const
  return mistake('yaml-comma-missing', span, [name], insertAt(place, ','))
}
