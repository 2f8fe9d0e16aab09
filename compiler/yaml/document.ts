// Reads one YAML document as plain values with their source positions.
import { isAlias, isMap, isScalar, isSeq } from 'yaml'
import type { Document, ParsedNode, Scalar, YAMLMap } from 'yaml'
import { shared } from '#lib/memory/string-memory.ts'
import type { LocalSpan, Place, YamlPath } from '#diagnostics/diagnostic.ts'
import type { LocalFinding } from '#diagnostics/finding.ts'
import { doubtedPaths } from './doubted-paths.ts'
import { placeInScalar } from './scalar-place.ts'
import { readMended } from './mistakes/mend.ts'
import type { Mended } from './mistakes/mend.ts'
import { depthMax, piecesMax } from './parse/parse.ts'
import type { Excess } from './parse/parse.ts'
import { plainValue } from './parse/plain.ts'

export interface YamlDocument {
  /** Undefined for a file with only comments. */
  readonly value: unknown
  readonly findings: readonly LocalFinding[]
  /** False when the value covers only a part of the text. */
  readonly isWhole: boolean
  /** The span of a place; of the nearest enclosing key when the field was left out. */
  readonly spanOf: (place: Place) => LocalSpan
  /** Paths of values whose YAML is wrong; the root path where that is unknown. */
  readonly doubted: () => readonly YamlPath[]
}

/**
 * Unless places are doubted, they are found only when a finding needs them.
 *
 * @param doubted see `readMended`
 */
export function readYaml(text: string, doubted: readonly number[] = []): YamlDocument {
  const value = doubted.length === 0 ? plainValue(text) : undefined
  return value === undefined ? readWithPlaces(text, doubted) : asPlain(text, value)
}

/** The document of a text that is known to read as `value` without findings. */
export function asPlain(text: string, value: unknown): YamlDocument {
  let placed: YamlDocument | undefined
  const withPlaces = (): YamlDocument => (placed ??= readWithPlaces(text))
  return {
    value,
    findings: [],
    isWhole: true,
    spanOf: (place) => withPlaces().spanOf(place),
    doubted: () => withPlaces().doubted(),
  }
}

/** Like `readYaml`, with the parser that keeps all places. */
export function readWithPlaces(text: string, doubted: readonly number[] = []): YamlDocument {
  const mended = readMended(text, doubted)
  const { document, excess } = mended
  const reader = new ValueReader()
  const value = reader.read(document.contents, 0)
  const own = reader.findings.map((one) => ({ ...one, spans: spansIn(mended, one.spans) }))
  const findings = [...mended.findings, ...documentFindings(mended)]
  if (excess !== undefined) {
    // If the first too-deep place is in the tree, the reader has found it.
    const deep = own.find(({ code }) => code === 'yaml-too-deep')
    findings.push(deep ?? excessFinding(excess))
  } else if (mended.isWhole) findings.push(...own)
  return {
    value,
    findings,
    // Values from a merge key are not read.
    isWhole: mended.isWhole && !own.some(({ code }) => code === 'yaml-merge-key'),
    spanOf: (place) => mended.original(spanOf(document, mended.text, place)),
    doubted: () =>
      doubtedPaths(
        document.contents,
        text,
        findings.flatMap(({ spans }) => spans),
        mended.original,
      ),
  }
}

function spansIn(mended: Mended, spans: LocalFinding['spans']): LocalFinding['spans'] {
  const [first, ...others] = spans.map((span) => mended.original(span))
  return [first!, ...others]
}

/** Reported alone: other faults of a truncated file only follow from it. */
function excessFinding({ kind, at }: Excess): LocalFinding {
  const span = { start: at, end: at + 1 }
  return kind === 'depth'
    ? finding('yaml-too-deep', span, [String(depthMax)])
    : finding('yaml-too-long', span, [String(piecesMax)])
}

function documentFindings({ document, text }: Mended): readonly LocalFinding[] {
  const { yaml } = document.directives
  if (yaml.explicit !== true || yaml.version === '1.2') return []
  const start = Math.max(0, text.indexOf('%YAML'))
  return [finding('yaml-version', { start, end: start + 9 }, [yaml.version])]
}

function finding(
  code: LocalFinding['code'],
  span: LocalSpan,
  args: readonly string[] = [],
  ...others: LocalSpan[]
): LocalFinding {
  return { code, args, suggestion: '', spans: [span, ...others] }
}

/**
 * Converts nodes into plain values and reports YAML features outside of this configuration's
 * profile.
 */
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
      return typeof node.value === 'string' ? shared(node.value) : node.value
    }
    if (depth >= depthMax) {
      this.findings.push(finding('yaml-too-deep', rangeOf(node), [String(depthMax)]))
      return undefined
    }
    if (isSeq(node)) return node.items.map((item) => this.read(item, depth + 1))
    return isMap(node) ? this.#readMap(node, depth) : undefined
  }

  /** Files are UTF-8, so only an escape can make half of a surrogate pair. */
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
      const glued = value === null || isEmptyScalar(value) ? gluedKey(key) : null
      if (glued !== null) {
        const [, field = '', text = ''] = glued
        const at = { start: span.start + field.length, end: span.start + field.length + 1 }
        this.findings.push(finding('yaml-space-missing', at, ['colon', `${field}: ${text}`]))
        result[field] = /^\d{1,9}$/.test(text) ? Number(text) : text
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
      // `__proto__` must become an ordinary field, to be refused as unknown.
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

/** `{ port:443 }` is one key without a value. */
function gluedKey({ type, value }: Scalar): RegExpExecArray | null {
  if (type !== 'PLAIN' || typeof value !== 'string') return null
  return /^([A-Za-z][\w-]*):([^/\s]\S*)$/.exec(value)
}

function isEmptyScalar(node: unknown): boolean {
  return isScalar(node) && node.value === null && node.source === ''
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
    const isEmpty = node === null || isEmptyScalar(node)
    span = isLast && place.at === 'value' && !isEmpty ? rangeOf(node) : rangeOf(pair.key)
  }
  if (place.character === undefined || !isScalar(node)) return span
  const value: unknown = node.value
  if (typeof value !== 'string') return span
  const source = text.slice(span.start, span.end)
  const start = span.start + placeInScalar(source, value, place.character)
  return { start, end: start + 1 }
}

/** The short form of a tag: `!!str`. */
function shortTag(tag: string): string {
  return tag.replace('tag:yaml.org,2002:', '!!')
}
