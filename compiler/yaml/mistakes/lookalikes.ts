// Finds characters that look like those of YAML, as word processors and web pages insert them. They
// are legal in any text that parses and fits, so only faulty places are searched.
import { CST, Lexer } from 'yaml'
import { lineAt, linesAbove } from '#compiler/yaml/parse/lines.ts'
import { mistake } from './mistake.ts'
import type { Edit, Mistake } from './mistake.ts'

const quotes = /[“”„‟«»‘’‚‛]/
const blank = /[\u00a0\u2007\u202f\u3000\u200b\u200e\u200f\ufeff]/
const dash = /^[–—−](?=\s)/
const any = new RegExp(`${quotes.source}|${blank.source}|[–—−]`)
const hidden = new RegExp(`^(?:${blank.source})|:(?=${blank.source})|${blank.source}$`)

/** Look-alikes tried for each error. */
const nearMax = 2

export function hasLookalike(text: string): boolean {
  return any.test(text)
}

/** @param isWanted whether to search between two offsets */
export function lookalikesAt(
  text: string,
  isWanted: (start: number, end: number) => boolean,
  max: number,
): readonly Mistake[] {
  const found: Mistake[] = []
  for (const { at, piece } of suspects(text, text.length)) {
    if (found.length >= max) break
    const one = isWanted(at, at + piece.length) ? lookalike(piece, at) : undefined
    if (one !== undefined) found.push(one)
  }
  return found
}

/** On the line of an error or the one above, nearest first. */
export function lookalikesNear(
  text: string,
  [from]: readonly [number, number],
): readonly Mistake[] {
  const line = lineAt(text, from)
  const [above] = linesAbove(text, line)
  const start = above?.start ?? line.start
  const end = line.start + line.text.length
  if (!any.test(text.slice(start, end))) return []
  const nearest: { readonly distance: number; readonly mistake: Mistake }[] = []
  for (const { at, piece } of suspects(text, end)) {
    if (at + piece.length <= start) continue
    const distance = Math.abs(at - from)
    if (nearest.length === nearMax && distance >= nearest.at(-1)!.distance) continue
    const one = lookalike(piece, at)
    if (one === undefined) continue
    nearest.push({ distance, mistake: one })
    nearest.sort((a, b) => a.distance - b.distance)
    nearest.length = Math.min(nearest.length, nearMax)
  }
  return nearest.map((one) => one.mistake)
}

/** Plain texts with a look-alike that start before `end`. */
function* suspects(text: string, end: number): Generator<{ at: number; piece: string }> {
  let at = 0
  let isText = false
  let isBlock = false
  for (const piece of new Lexer().lex(text)) {
    if (at >= end) return
    if (piece === CST.SCALAR) isText = true
    else if (piece !== CST.DOCUMENT && piece !== CST.FLOW_END) {
      if (isText && !isBlock && any.test(piece)) yield { at, piece }
      // After the indicator of a block scalar comes its text.
      isBlock = !isText && (isBlock || piece.startsWith('|') || piece.startsWith('>'))
      at += piece.length
      isText = false
    }
  }
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
