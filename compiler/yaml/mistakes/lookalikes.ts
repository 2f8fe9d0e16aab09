// Finds characters that look like those of YAML: typographic quotes, dashes and spaces.
import { CST, Lexer } from 'yaml'
import { mistake } from './mistake.ts'
import type { Edit, Mistake } from './mistake.ts'

const quotes = /[“”„‟«»‘’‚‛]/
const blank = /[\u00a0\u2007\u202f\u3000\u200b\u200e\u200f\ufeff]/
const dash = /^[–—−](?=\s)/
const any = new RegExp(`${quotes.source}|${blank.source}|[–—−]`)

/** Those where they change what is meant; inside a text for people they are welcome. */
export function lookalikes(text: string): readonly Mistake[] {
  if (!any.test(text)) return []
  const found: Mistake[] = []
  let at = 0
  let isPlain = false
  for (const piece of new Lexer().lex(text)) {
    if (piece === CST.SCALAR) isPlain = true
    else if (piece !== CST.DOCUMENT && piece !== CST.FLOW_END) {
      const one = isPlain && any.test(piece) ? lookalike(piece, at) : undefined
      if (one !== undefined) found.push(one)
      at += piece.length
      isPlain = false
    }
  }
  // From the end, so that the places of the others stay.
  return found.toReversed()
}

function lookalike(piece: string, at: number): Mistake | undefined {
  const [first = ''] = piece
  const sign = quotes.exec(first)?.[0]
  if (sign !== undefined) {
    const end = quotes.exec(piece.at(-1)!) === null ? piece.length : piece.length - 1
    const inner = piece.slice(1, end).split('\n', 1)[0]!
    const write = JSON.stringify(inner)
    const edits = [{ at, remove: end === piece.length ? 1 : piece.length, insert: write }]
    const what = `${sign} is no quote of YAML, so it is a part of the text`
    return mistake('yaml-lookalike', [at, inner.length + 1], [what, `write ${write}`], ...edits)
  }
  if (dash.test(piece)) {
    const what = `${first} is no dash of YAML, so this is no entry of a list`
    const edit = { at, remove: 1, insert: '-' }
    return mistake('yaml-lookalike', [at, 1], [what, 'write a plain -'], edit)
  }
  const hidden = new RegExp(`^(?:${blank.source})|:(?=${blank.source})|${blank.source}$`)
  const seen = hidden.exec(piece)
  if (seen === null) return undefined
  return blankAt(piece, at, piece[seen.index] === ':' ? seen.index + 1 : seen.index)
}

function blankAt(piece: string, at: number, index: number): Mistake {
  const point = piece.charCodeAt(index).toString(16).toUpperCase().padStart(4, '0')
  const what = `here is a sign that looks like a space or like nothing, and is none (U+${point})`
  const edits: Edit[] = []
  for (let i = 0; i < piece.length; i++) {
    if (blank.test(piece[i]!)) edits.push({ at: at + i, remove: 1, insert: ' ' })
  }
  const help = 'delete it, and type a plain space where one is needed'
  return mistake('yaml-lookalike', [at + index, 1], [what, help], ...edits)
}
