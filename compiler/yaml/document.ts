// One YAML file as plain values, with the place of each of them.
import { isAlias, isMap, isScalar, isSeq } from 'yaml'
import type { Document, ParsedNode, YAMLMap } from 'yaml'
import type { LocalSpan, Place } from '#compiler/diagnostics/diagnostic.ts'
import type { LocalFinding } from '#compiler/diagnostics/finding.ts'
import { placeInScalar } from './scalar-place.ts'
import { depthMax, parseYaml, piecesMax } from '#compiler/yaml-parse.ts'
import type { Excess } from '#compiler/yaml-parse.ts'

export interface YamlDocument {
  /** Undefined for a file of comments. */
  readonly value: unknown
  readonly findings: readonly LocalFinding[]
  /** The span of a place; of the nearest enclosing key when the field was left out. */
  readonly spanOf: (place: Place) => LocalSpan
}

export function readYaml(text: string): YamlDocument {
  const { document, excess } = parseYaml(text)
  const reader = new ValueReader()
  const value = reader.read(document.contents, 0)
  const syntax =
    excess === undefined
      ? syntaxFinding(document, text)
      : // The reader has found the very first place that is too deep, if it is in the tree.
        (reader.findings.find(({ code }) => code === 'yaml-too-deep') ?? excessFinding(excess))
  return {
    value,
    findings: syntax === undefined ? reader.findings : [syntax],
    spanOf: (place) => spanOf(document, text, place),
  }
}

/** Alone: what else is wrong with half a file is an echo of where it was cut. */
function excessFinding({ kind, at }: Excess): LocalFinding {
  const span = { start: at, end: at + 1 }
  return kind === 'depth'
    ? finding('yaml-too-deep', span, [String(depthMax)])
    : finding('yaml-too-long', span, [String(piecesMax)])
}

/** The first error only: what follows it is usually its echo. */
function syntaxFinding(document: Document.Parsed, text: string): LocalFinding | undefined {
  const { yaml } = document.directives
  if (yaml.explicit === true && yaml.version !== '1.2') {
    const start = Math.max(0, text.indexOf('%YAML'))
    return finding('yaml-version', { start, end: start + 9 }, [yaml.version])
  }
  const error = document.errors[0]
  if (error === undefined) return undefined
  const [start, end] = error.pos
  const span = { start, end: Math.max(end, start + 1) }
  if (error.code === 'MULTIPLE_DOCS') {
    return finding('yaml-several-documents', { start, end: start + 3 })
  }
  // The spread operator of the shell of people: a bare * or & at the start of a value.
  if (error.code === 'BAD_ALIAS') return finding('yaml-anchor', span)
  return finding('yaml-syntax', span, [sentence(error.message)])
}

function sentence(message: string): string {
  const first = message.split('\n', 1)[0] ?? ''
  return first.charAt(0).toLowerCase() + first.slice(1).replace(/\.$/, '')
}

function finding(
  code: LocalFinding['code'],
  span: LocalSpan,
  args: readonly string[] = [],
  ...others: LocalSpan[]
): LocalFinding {
  return { code, args, suggestion: '', spans: [span, ...others] }
}

/** Turns nodes into plain values and notes what the configuration's YAML profile leaves out. */
class ValueReader {
  readonly findings: LocalFinding[] = []

  read(node: ParsedNode | null, depth: number): unknown {
    if (node === null) return undefined
    if (isAlias(node)) {
      this.findings.push(finding('yaml-anchor', rangeOf(node)))
      return undefined
    }
    if (node.anchor !== undefined) this.findings.push(finding('yaml-anchor', rangeOf(node)))
    if (node.tag !== undefined)
      this.findings.push(finding('yaml-tag', rangeOf(node), [shortTag(node.tag)]))
    if (isScalar(node)) {
      this.#checkText(node.value, rangeOf(node))
      return node.value
    }
    if (depth >= depthMax) {
      this.findings.push(finding('yaml-too-deep', rangeOf(node), [String(depthMax)]))
      return undefined
    }
    if (isSeq(node)) return node.items.map((item) => this.read(item, depth + 1))
    return isMap(node) ? this.#readMap(node, depth) : undefined
  }

  /** Files are UTF-8, so that only an escape can say half of a pair. */
  #checkText(value: unknown, span: LocalSpan): void {
    if (typeof value === 'string' && !value.isWellFormed()) {
      this.findings.push(finding('yaml-half-character', span))
    }
  }

  #readMap(map: YAMLMap.Parsed, depth: number): Record<string, unknown> {
    const result: Record<string, unknown> = {}
    const keys = new Map<string, LocalSpan>()
    for (const { key, value } of map.items) {
      const span = rangeOf(key)
      if (!isScalar(key) || typeof key.value !== 'string') {
        const code = isAlias(key) ? 'yaml-anchor' : 'yaml-key-not-text'
        this.findings.push(finding(code, span))
        continue
      }
      const name = key.value
      this.#checkText(name, span)
      const first = keys.get(name)
      if (name === '<<') this.findings.push(finding('yaml-merge-key', span))
      else if (first !== undefined) {
        this.findings.push(finding('yaml-duplicate-key', span, [name], first))
      }
      if (key.anchor !== undefined) this.findings.push(finding('yaml-anchor', span))
      if (key.tag !== undefined) this.findings.push(finding('yaml-tag', span, [shortTag(key.tag)]))
      keys.set(name, span)
      // `__proto__` must become a field like any other, to be refused as unknown.
      Object.defineProperty(result, name, {
        value: this.read(value, depth + 1) ?? null,
        enumerable: true,
        writable: true,
        configurable: true,
      })
    }
    return result
  }
}

function rangeOf(node: ParsedNode | null): LocalSpan {
  const range = node?.range
  if (range === undefined || range === null) return { start: 0, end: 1 }
  return { start: range[0], end: Math.max(range[1], range[0] + 1) }
}

function spanOf(document: Document.Parsed, text: string, place: Place): LocalSpan {
  let node: ParsedNode | null = document.contents
  let span = isMap(node) ? rangeOf(node.items[0]?.key ?? node) : rangeOf(node)
  for (const [i, step] of place.path.entries()) {
    const isLast = i === place.path.length - 1
    if (typeof step === 'number') {
      const item: unknown = isSeq(node) ? node.items[step] : undefined
      if (item === undefined) return span
      node = item as ParsedNode
      span = rangeOf(node)
      continue
    }
    const pair: YAMLMap.Parsed['items'][number] | undefined = isMap(node)
      ? node.items.find(({ key }) => isScalar(key) && key.value === step)
      : undefined
    if (pair === undefined) return span
    node = pair.value
    const isEmpty = node === null || (isScalar(node) && node.value === null && node.source === '')
    span = isLast && place.at === 'value' && !isEmpty ? rangeOf(node) : rangeOf(pair.key)
  }
  if (place.character === undefined || !isScalar(node)) return span
  const value: unknown = node.value
  if (typeof value !== 'string') return span
  const source = text.slice(span.start, span.end)
  const start = span.start + placeInScalar(source, value, place.character)
  return { start, end: start + 1 }
}

/** As people write it: `!!str`. */
function shortTag(tag: string): string {
  return tag.replace('tag:yaml.org,2002:', '!!')
}
