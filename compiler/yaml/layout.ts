// Finds the text range and indentation of a YAML node.
import { isMap, isPair, isScalar, isSeq } from 'yaml'
import type { Pair, ParsedNode, YAMLMap } from 'yaml'

type Node = ParsedNode | null | undefined
type Part = Node | Pair<ParsedNode, ParsedNode | null>

export class YamlLayout {
  readonly #text: string

  constructor(text: string) {
    this.#text = text
  }

  /** From the first character to after the last one, without trailing comments. */
  extent(part: Part): [start: number, end: number] {
    const first = isPair(part) ? (part.key as Node) : part
    return [first?.range?.[0] ?? 0, this.contentEnd(part)]
  }

  /**
   * The end without trailing comments, which the library's range of a block collection includes.
   */
  contentEnd(part: Part): number {
    if (isPair(part)) {
      const { key, value } = part
      const isEmpty = value === null || (isScalar(value) && value.source === '')
      return isEmpty ? (this.colonAfter(key) ?? key.range[1]) : this.contentEnd(value)
    }
    const node = part
    const isBlock = (isMap(node) || isSeq(node)) && node.flow !== true
    const last = isBlock ? (node.items.at(-1) as Part) : undefined
    return last === undefined ? (node?.range?.[1] ?? 0) : this.contentEnd(last)
  }

  /** The position after the colon of a key. */
  colonAfter(key: Node): number | undefined {
    const from = key?.range?.[1]
    if (from === undefined) return undefined
    const colon = /^[ \t]*:/.exec(this.#text.slice(from, from + 16))
    return colon === null ? undefined : from + colon[0].length
  }

  /** True for a node that a replacement on its line can replace. */
  isOneLine(node: Node): boolean {
    if (node === null || node === undefined) return true
    if ((isMap(node) || isSeq(node)) && node.flow !== true) return false
    return !this.#text.slice(node.range[0], node.range[1]).includes('\n')
  }

  /** The column of a key; undefined: it is not the first on its line. */
  columnOf(key: Node): number | undefined {
    const start = key?.range?.[0]
    if (start === undefined) return undefined
    const line = lineStart(this.#text, start)
    return /^ *$/.test(this.#text.slice(line, start)) ? start - line : undefined
  }

  /** The column of the keys of a block mapping, whose first may follow a dash. */
  indentOf(map: YAMLMap.Parsed): number | undefined {
    const start = map.items[0]?.key?.range?.[0]
    if (start === undefined) return undefined
    const line = lineStart(this.#text, start)
    return /^ *(?:- +)*$/.test(this.#text.slice(line, start)) ? start - line : undefined
  }

  /** Column of the dash before an item at `start`, when it is the first on its line. */
  dashColumn(start: number): number | undefined {
    const line = lineStart(this.#text, start)
    const dash = /^( *)- +$/.exec(this.#text.slice(line, start))
    return dash?.[1]?.length
  }
}

export function lineStart(text: string, position: number): number {
  return text.lastIndexOf('\n', position - 1) + 1
}

/** The start of the next line; `position` itself when a line starts there. */
export function lineAfter(text: string, position: number): number {
  if (position > 0 && text[position - 1] === '\n') return position
  const end = text.indexOf('\n', position)
  return end === -1 ? text.length : end + 1
}

/** The start of the comment lines directly above the line at `line`. */
export function startOfComments(text: string, line: number): number {
  let start = line
  while (start > 0) {
    const above = lineStart(text, start - 1)
    if (!/^[ \t]*#/.test(text.slice(above, start))) break
    start = above
  }
  return start
}
