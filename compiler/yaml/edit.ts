// Edits a YAML file in place: only the lines whose values change are rewritten.
import { isMap, isScalar, isSeq, parseDocument } from 'yaml'
import type { Document, ParsedNode, YAMLMap, YAMLSeq } from 'yaml'
import { assert } from '#lib/assert.ts'
import { sameValue } from './same-value.ts'
import { alignItems } from './align.ts'
import { readYaml } from './document.ts'
import { lineAfter, lineStart, startOfComments, YamlLayout } from './layout.ts'
import { jsonLines, jsonLinesValue } from './parse/json-lines.ts'
import { blockText, flowText, printing } from './text.ts'
import type { JsonObject, JsonValue } from './text.ts'
import { isFields } from '#lib/text/json.ts'

/** @param value of a whole file */
export function printYaml(value: JsonObject): string {
  return `${blockText(value, 0, '\n')}\n`
}

/**
 * Prints the file of a new object. Records that came by transfer are lines of JSON: there may be
 * many, and nobody edits them (docs/adr/0045).
 */
export function printObject(value: JsonObject): string {
  const { kind, spec } = value
  const isOfTransfer = kind === 'Records' && isFields(spec) && spec['transfer'] !== undefined
  return isOfTransfer ? jsonLines(value) : printYaml(value)
}

/**
 * Returns the text that reads as `value`, keeping comments, order, quotes and blank lines of
 * unchanged parts.
 *
 * @param text a mapping without errors
 * @param value in the form of `readYaml`; missing keys are removed
 */
export function editYaml(text: string, value: JsonObject): string {
  const isJson = jsonLinesValue(text) !== undefined
  const spliced = isJson ? jsonLines(value) : splice(text, value)
  if (spliced !== undefined && readsAs(spliced, value)) return spliced
  // For unusual layouts the library prints anew, which keeps comments but not blank lines.
  const printed = reprint(text, value)
  if (readsAs(printed, value)) return printed
  const fresh = printYaml(value)
  assert(readsAs(fresh, value), 'what is printed reads as what was printed')
  return fresh
}

function readsAs(text: string, value: JsonObject): boolean {
  const read = readYaml(text)
  return read.findings.length === 0 && sameValue(read.value, value)
}

function parse(text: string): Document.Parsed {
  return parseDocument(text, { version: '1.2', schema: 'core', uniqueKeys: false })
}

function splice(text: string, value: JsonObject): string | undefined {
  const document = parse(text)
  const editor = new Editor(text)
  if (!isMap(document.contents)) return undefined
  editor.map(document.contents, value)
  return editor.result()
}

interface Splice {
  readonly start: number
  readonly end: number
  readonly text: string
}

/** Collects replacements from one parse. */
class Editor {
  readonly #text: string
  readonly #eol: string
  readonly #layout: YamlLayout
  readonly #splices: Splice[] = []
  #isUnusual = false

  constructor(text: string) {
    this.#text = text
    this.#eol = text.includes('\r\n') ? '\r\n' : '\n'
    this.#layout = new YamlLayout(text)
  }

  result(): string | undefined {
    if (this.#isUnusual) return undefined
    let result = ''
    let position = 0
    for (const { start, end, text } of this.#splices.toSorted((a, b) => a.start - b.start)) {
      if (start < position) return undefined
      result += this.#text.slice(position, start) + text
      position = end
    }
    return result + this.#text.slice(position)
  }

  map(map: YAMLMap.Parsed, next: JsonObject): void {
    const keys = new Set<string>()
    const gone: YAMLMap.Parsed['items'] = []
    for (const pair of map.items) {
      const key = isScalar(pair.key) ? String(pair.key.value) : ''
      keys.add(key)
      if (!Object.hasOwn(next, key)) gone.push(pair)
      else this.#pair(map, pair, next[key]!)
    }
    const added = Object.entries(next).filter(([key]) => !keys.has(key))
    if (gone.length === 0 && added.length === 0) return
    if (gone.length === map.items.length) return this.#giveUp()
    for (const pair of gone) this.#removePair(map, pair)
    if (added.length > 0) this.#addPairs(map, Object.fromEntries(added))
  }

  /** Falls back on the library's printer for a layout that this editor cannot handle. */
  #giveUp(): void {
    this.#isUnusual = true
  }

  #replace(start: number, end: number, text: string): void {
    this.#splices.push({ start, end, text })
  }

  #pair(map: YAMLMap.Parsed, pair: YAMLMap.Parsed['items'][number], next: JsonValue): void {
    const node = pair.value
    if (sameValue(plain(node), next)) return
    if (isMap(node) && isFields(next) && node.items.length > 0) {
      return this.map(node, next)
    }
    if (isSeq(node) && Array.isArray(next) && node.items.length > 0 && next.length > 0) {
      return this.#seq(node, next as readonly JsonValue[])
    }
    this.#setPair(map, pair, next)
  }

  /** Replaces a whole value; the comment behind it stays if it still has a line. */
  #setPair(map: YAMLMap.Parsed, pair: YAMLMap.Parsed['items'][number], next: JsonValue): void {
    const keyEnd = this.#layout.colonAfter(pair.key)
    const end = this.#layout.contentEnd(pair)
    if (keyEnd === undefined) return this.#giveUp()
    const isBlockValue = !this.#layout.isOneLine(pair.value)
    const wantsBlock = map.flow !== true && wantsLines(next)
    if (!isBlockValue && !wantsBlock) return this.#replace(keyEnd, end, ` ${flowText(next)}`)
    const key = String((pair.key as { value: unknown }).value)
    const indent = this.#layout.columnOf(pair.key)
    if (map.flow === true || indent === undefined) return this.#giveUp()
    // A comment between a key and its lines stays behind the key.
    const bodyStart = lineAfter(this.#text, keyEnd)
    const bodyEnd = lineAfter(this.#text, end)
    if (!wantsBlock) {
      this.#replace(keyEnd, keyEnd, ` ${flowText(next)}`)
      return this.#replace(bodyStart, bodyEnd, '')
    }
    if (typeof next === 'string') {
      const text = blockText({ [key]: next }, indent, this.#eol) + this.#eol
      return this.#replace(lineStart(this.#text, pair.key.range[0]), bodyEnd, text)
    }
    const inner = indent + 2
    const body = blockText(next, inner, this.#eol) + this.#eol
    if (!isBlockValue) {
      this.#replace(keyEnd, end, '')
      return this.#insertAt(bodyStart, body)
    }
    this.#replace(bodyStart, bodyEnd, body)
  }

  #removePair(map: YAMLMap.Parsed, pair: YAMLMap.Parsed['items'][number]): void {
    const at = map.items.indexOf(pair)
    if (map.flow === true) return this.#removeFromFlow(map.items, at)
    if (this.#layout.columnOf(pair.key) === undefined) return this.#giveUp()
    const start = lineStart(this.#text, pair.key.range[0])
    const from = at === 0 ? start : startOfComments(this.#text, start)
    this.#replace(from, lineAfter(this.#text, this.#layout.contentEnd(pair)), '')
  }

  #removeFromFlow(items: YAMLMap.Parsed['items'] | YAMLSeq.Parsed['items'], at: number): void {
    const [start, end] = this.#layout.extent(items[at])
    const following = items[at + 1]
    if (following !== undefined) {
      return this.#replace(start, this.#layout.extent(following)[0], '')
    }
    const before = items[at - 1]
    this.#replace(before === undefined ? start : this.#layout.extent(before)[1], end, '')
  }

  #addPairs(map: YAMLMap.Parsed, added: JsonObject): void {
    const last = map.items.at(-1)
    if (last === undefined) return this.#giveUp()
    const end = this.#layout.contentEnd(last)
    if (map.flow === true) return this.#replace(end, end, `, ${flowText(added).slice(2, -2)}`)
    const indent = this.#layout.indentOf(map)
    if (indent === undefined) return this.#giveUp()
    this.#insertAt(lineAfter(this.#text, end), blockText(added, indent, this.#eol) + this.#eol)
  }

  #seq(seq: YAMLSeq.Parsed, next: readonly JsonValue[]): void {
    const { kept, removed, added } = alignItems(seq.items.map(plain) as JsonValue[], next)
    for (const [from, to] of kept) this.#item(seq, from, next[to]!)
    for (const at of removed) this.#removeItem(seq, at)
    if (added.length > 0)
      this.#addItems(
        seq,
        added.map((at) => next[at]!),
        kept.length === 0,
      )
  }

  #item(seq: YAMLSeq.Parsed, at: number, next: JsonValue): void {
    const node = seq.items[at]
    if (sameValue(plain(node), next)) return
    if (isMap(node) && isFields(next)) return this.map(node, next)
    if (!this.#layout.isOneLine(node) || node?.range === undefined) return this.#giveUp()
    this.#replace(node.range[0], node.range[1], flowText(next))
  }

  #removeItem(seq: YAMLSeq.Parsed, at: number): void {
    if (seq.flow === true) return this.#removeFromFlow(seq.items, at)
    const [start, end] = this.#layout.extent(seq.items[at])
    const line = lineStart(this.#text, start)
    if (this.#layout.dashColumn(start) === undefined) return this.#giveUp()
    const from = at === 0 ? line : startOfComments(this.#text, line)
    this.#replace(from, lineAfter(this.#text, end), '')
  }

  #addItems(seq: YAMLSeq.Parsed, items: readonly JsonValue[], isAlone: boolean): void {
    const last = seq.items.at(-1)
    const [start, end] = this.#layout.extent(last)
    if (seq.flow === true) {
      const text = items.map(flowText).join(', ')
      if (isAlone) return this.#giveUp()
      return this.#replace(end, end, `, ${text}`)
    }
    const indent = this.#layout.dashColumn(start)
    if (indent === undefined) return this.#giveUp()
    // In the style of the previous item, if that is a mapping.
    const isFlow = isMap(last) && last.flow === true
    const pad = ' '.repeat(indent)
    const text = items.map((item) =>
      isFlow ? `${pad}- ${flowText(item)}` : blockText([item], indent, this.#eol),
    )
    this.#insertAt(lineAfter(this.#text, end), text.join(this.#eol) + this.#eol)
  }

  /** Inserts whole lines; a file may end without a line end. */
  #insertAt(position: number, lines: string): void {
    const needsEol = position > 0 && this.#text[position - 1] !== '\n'
    this.#replace(position, position, needsEol ? this.#eol + lines : lines)
  }
}

function reprint(text: string, value: JsonObject): string {
  const document = parse(text)
  setNode(document, [], value)
  return document.toString(printing)
}

function setNode(document: Document.Parsed, path: readonly string[], next: JsonValue): void {
  const node = path.length === 0 ? document.contents : document.getIn(path, true)
  if (!isMap(node) || !isFields(next)) {
    if (!sameValue(plain(node as ParsedNode | null), next)) document.setIn(path, next)
    return
  }
  for (const { key } of [...node.items]) {
    const name = isScalar(key) ? String(key.value) : ''
    if (!Object.hasOwn(next, name)) document.deleteIn([...path, name])
  }
  for (const [key, one] of Object.entries(next)) setNode(document, [...path, key], one)
}

/** True for values of several lines: nested ones, and texts with line ends (scripts). */
function wantsLines(value: JsonValue): boolean {
  if (typeof value === 'string') return value.includes('\n')
  if (typeof value !== 'object' || value === null) return false
  return Object.keys(value).length > 0
}

/** In the form of `readYaml`: an empty value is null. */
function plain(node: ParsedNode | null | undefined): unknown {
  return node === null || node === undefined ? null : node.toJSON()
}
