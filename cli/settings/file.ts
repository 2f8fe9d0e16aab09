// Parses gslbd.yaml: checked values, or every mistake with its line and column.
import {
  LineCounter,
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  parseAllDocuments,
  visit,
} from 'yaml'
import type { Document, Node, Pair } from 'yaml'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { suggest } from '#lib/suggest.ts'
import { keysUnder, laterKeys, repositoryKeys, settingRows } from './schema.ts'
import type { SettingValue } from './forms.ts'
import { problemOf } from './value.ts'

/** By key (`dns.port`); a key that the file does not have is not in it. */
export type SettingValues = ReadonlyMap<string, SettingValue>

/** Characters; a settings file has a hundred lines. */
const charactersMax = 1_048_576
const problemsMax = 100

/**
 * @param name how messages call the file
 * @returns errors as `NAME:LINE:COL: what, what to do`, in the order of the file
 */
export function readSettingsText(text: string, name: string): Result<SettingValues, string[]> {
  if (text.length > charactersMax) {
    return err([`${name}: the file is larger than 1 MiB; settings of a node are a page of text`])
  }
  const lines = new LineCounter()
  const reader = new Reader(name, lines)
  const documents = parseAllDocuments(text, {
    lineCounter: lines,
    version: '1.2',
    prettyErrors: false,
  })
  if (Array.isArray(documents)) {
    for (const document of documents) reader.readSyntax(document)
    const [first, second] = documents
    if (second !== undefined)
      reader.add(second.range[0], 'a second document; keep one, without "---" between')
    if (first !== undefined && reader.problems.length === 0) reader.readRoot(first)
  }
  return reader.problems.length === 0 ? ok(reader.values) : err(reader.sorted())
}

interface Problem {
  readonly offset: number
  readonly sentence: string
}

class Reader {
  readonly values = new Map<string, SettingValue>()
  readonly problems: Problem[] = []
  readonly #name: string
  readonly #lines: LineCounter

  constructor(name: string, lines: LineCounter) {
    this.#name = name
    this.#lines = lines
  }

  add(offset: number, sentence: string): void {
    if (this.problems.length < problemsMax) this.problems.push({ offset, sentence })
  }

  sorted(): string[] {
    return this.problems
      .toSorted((a, b) => a.offset - b.offset)
      .map(({ offset, sentence }) => {
        const { line, col } = this.#lines.linePos(offset)
        return `${this.#name}:${line}:${col}: ${sentence}`
      })
  }

  /** YAML's own rules, and those it leaves open: no anchors, aliases or tags. */
  readSyntax(document: Document.Parsed): void {
    for (const { pos, message } of [...document.errors, ...document.warnings]) {
      this.add(pos[0], message.replace(/\.$/, ''))
    }
    visit(document, {
      Node: (_key, node) => {
        if (isAlias(node)) this.add(offsetOf(node), 'an alias; write the value out')
        else if (node.anchor !== undefined)
          this.add(offsetOf(node), 'an anchor; write the value out')
        else if (node.tag?.startsWith('!') === true)
          this.add(offsetOf(node), 'a tag; write a plain value')
      },
    })
  }

  readRoot(document: Document.Parsed): void {
    const root = document.contents
    if (root === null || (isScalar(root) && root.value === null)) return
    if (!isMap(root)) {
      this.add(offsetOf(root), 'the file is not a mapping; write sections such as "dns:"')
      return
    }
    this.#readMap(root.items, [])
  }

  #readMap(pairs: readonly Pair[], path: readonly string[]): void {
    for (const { key, value } of pairs) {
      const name = isScalar(key) ? String(key.value) : ''
      const here = [...path, name]
      const full = here.join('.')
      if (keysUnder(path).includes(name)) this.#readKnown(full, here, value, offsetOf(key))
      else this.add(offsetOf(key), this.#unknown(full, name, path))
    }
  }

  #readKnown(full: string, path: readonly string[], value: unknown, keyOffset: number): void {
    const row = settingRows.find((candidate) => candidate.key === full)
    const offset = isNode(value) ? offsetOf(value) : keyOffset
    const plain = plainOf(value)
    if (row !== undefined) {
      const problem = problemOf(row, plain ?? null, 'file')
      if (problem === undefined) this.values.set(full, plain as SettingValue)
      // An empty value has no place of its own.
      else this.add(plain === null ? keyOffset : offset, problem)
    } else if (isMap(value)) {
      this.#readMap(value.items, path)
    } else if (plain !== null) {
      // A section whose keys are all commented out is null, and empty.
      this.add(
        offset,
        `${full} is a section; write its keys below it, indented: ${keysUnder(path).join(', ')}`,
      )
    }
  }

  #unknown(full: string, name: string, path: readonly string[]): string {
    if (repositoryKeys.includes(full)) {
      return `${full} is the same for all nodes: write it below spec in gslb.yaml of the repository`
    }
    if (laterKeys.includes(full)) return `${full} is not available in this version; remove it`
    const near = suggest(name, keysUnder(path))
    const known = keysUnder(path).join(', ')
    return near === undefined
      ? `there is no setting ${full}; remove it, or use one of: ${known}`
      : `there is no setting ${full}; did you mean "${near}"?`
  }
}

/** As a setting can be: one value, a list of values, names with values. */
function plainOf(value: unknown): unknown {
  if (isSeq(value)) return value.items.map(scalarOf)
  if (!isMap(value)) return scalarOf(value)
  return Object.fromEntries(value.items.map((item) => [scalarOf(item.key), plainOf(item.value)]))
}

const scalarOf = (node: unknown): unknown => (isScalar(node) ? node.value : node)

function offsetOf(node: unknown): number {
  return isNode(node) ? ((node as Node).range?.[0] ?? 0) : 0
}
