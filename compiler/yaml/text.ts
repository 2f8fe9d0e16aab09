// Prints plain values as YAML in the style of this configuration.
import { Document, isMap, isScalar, isSeq, visit } from 'yaml'
import type { CreateNodeOptions, SchemaOptions, ToStringOptions, YAMLMap } from 'yaml'

export type JsonValue =
  null | boolean | number | string | readonly JsonValue[] | { readonly [key: string]: JsonValue }
export interface JsonObject {
  readonly [key: string]: JsonValue
}

/** `compat`: texts that older readers would take for a truth value (`NO`) are quoted. */
const reading: SchemaOptions & CreateNodeOptions = {
  schema: 'core',
  compat: 'yaml-1.1',
  aliasDuplicateObjects: false,
}
export const printing: ToStringOptions = Object.freeze({ lineWidth: 0, minContentWidth: 0 })

/** Mappings in a list of up to this many characters stay on one line, as members are written. */
const lineLengthMax = 96

/** Lines of a mapping or list, indented by `indent` columns, the last without its line end. */
export function blockText(value: JsonValue, indent: number, eol: string): string {
  const pad = ' '.repeat(indent)
  const lines = plainBlock(value) ?? blockOfLibrary(value)
  return lines.map((line) => (line === '' ? line : pad + line)).join(eol)
}

/**
 * What the library prints, at a tenth of its time, where all texts are of common forms: it makes a
 * node of each value, and a first import has thousands of files.
 *
 * @returns undefined: not all of them are
 */
function plainBlock(value: JsonValue): string[] | undefined {
  if (typeof value !== 'object' || value === null || isNameAndUid(value)) return undefined
  const lines: string[] = []
  const isDone = isList(value) ? addItems(value, '', lines) : addPairs(value, '', lines)
  return isDone && lines.length > 0 ? lines : undefined
}

function addPairs(value: JsonObject, pad: string, lines: string[]): boolean {
  for (const [key, one] of Object.entries(value)) {
    const name = commonText(key)
    if (name === undefined) return false
    const text = inlineText(one, isNameAndUid(one))
    if (text !== undefined) lines.push(`${pad}${name}: ${text}`)
    else if (typeof one !== 'object' || one === null) return false
    else {
      lines.push(`${pad}${name}:`)
      const isDone = isList(one)
        ? addItems(one, `${pad}  `, lines)
        : addPairs(one, `${pad}  `, lines)
      if (!isDone) return false
    }
  }
  return true
}

function addItems(list: readonly JsonValue[], pad: string, lines: string[]): boolean {
  for (const one of list) {
    const text = inlineText(one, true)
    if (text !== undefined) lines.push(`${pad}- ${text}`)
    else if (typeof one !== 'object' || one === null || isList(one)) return false
    else {
      const first = lines.length
      if (!addPairs(one, `${pad}  `, lines)) return false
      lines[first] = `${pad}- ${lines[first]!.slice(pad.length + 2)}`
    }
  }
  return true
}

/**
 * @param mayFlow whether a mapping stays on one line if it is short
 * @returns undefined: it has lines of its own, or no common form
 */
function inlineText(value: JsonValue, mayFlow: boolean): string | undefined {
  if (typeof value !== 'object' || value === null) return commonText(value)
  if (isList(value)) return value.length === 0 ? '[]' : undefined
  const entries = Object.entries(value)
  if (entries.length === 0) return '{}'
  if (!mayFlow) return undefined
  const pairs: string[] = []
  for (const [key, one] of entries) {
    const name = commonText(key)
    const text = typeof one === 'object' && one !== null ? undefined : commonText(one)
    if (name === undefined || text === undefined) return undefined
    pairs.push(`${name}: ${text}`)
  }
  const flow = `{ ${pairs.join(', ')} }`
  return flow.length <= lineLengthMax && !flow.includes('\\n') ? flow : undefined
}

/** Texts in double quotes, as of TXT records. */
const quotedText = /^"[ -&(-~]*$/
const common = /^(?:[a-z][\w./-]*|\d{1,3}(?:\.\d{1,3}){3})$/i

/** A scalar as it is printed in a block and in brackets; undefined: the library has to say. */
function commonText(value: null | boolean | number | string): string | undefined {
  if (typeof value !== 'string') {
    const isPlain =
      typeof value !== 'number' || (Number.isSafeInteger(value) && !Object.is(value, -0))
    return isPlain ? String(value) : undefined
  }
  if ((common.test(value) || plainText.test(value)) && !reserved.test(value)) return value
  return quotedText.test(value) ? `'${value}'` : undefined
}

const isList = (value: JsonValue): value is readonly JsonValue[] => Array.isArray(value)

function isNameAndUid(value: JsonValue): boolean {
  if (typeof value !== 'object' || value === null) return false
  const keys = Object.keys(value)
  return keys.length === 2 && keys[0] === 'name' && keys[1] === 'uid'
}

function blockOfLibrary(value: JsonValue): string[] {
  const document = new Document(value, reading)
  visit(document, {
    Map: (key, node, ancestors) => {
      const parent = ancestors.at(-1)
      if ((key !== null && isSeq(parent)) || isMetadata(node)) node.flow = isShort(node)
    },
    // As a block, trailing blanks of lines without text would be lost (YAML 1.2, section 8.1.1).
    Scalar: (_key, node) => {
      const { value } = node
      const isBlank = typeof value === 'string' && value.includes('\n') && value.trim() === ''
      if (isBlank) node.type = 'QUOTE_DOUBLE'
    },
  })
  return document.toString(printing).replace(/\n$/, '').split('\n')
}

function isMetadata(node: YAMLMap): boolean {
  const keys = node.items.map(({ key }) => (isScalar(key) ? key.value : undefined))
  return keys.length === 2 && keys[0] === 'name' && keys[1] === 'uid'
}

function isShort(node: YAMLMap): boolean {
  if (node.items.some(({ value }) => isMap(value) || isSeq(value))) return false
  const text = flowText(node.toJSON() as JsonObject)
  return text.length <= lineLengthMax && !text.includes('\\n')
}

/** One line that fits anywhere a value may be, also inside brackets. */
export function flowText(value: JsonValue): string {
  if (Array.isArray(value)) return `[${(value as JsonValue[]).map(flowText).join(', ')}]`
  if (typeof value !== 'object' || value === null) return scalarText(value)
  const pairs = Object.entries(value).map(([key, one]) => `${scalarText(key)}: ${flowText(one)}`)
  return pairs.length === 0 ? '{}' : `{ ${pairs.join(', ')} }`
}

/** Names and ids, which the library prints as they are; it takes a document for each scalar. */
const plainText = /^(?:[a-z][\w.-]*|[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})$/i
/** Truth values, nothing, and what the library takes for a number: quoted for some reader. */
const reserved = /^(?:y|yes|n|no|on|off|true|false|null|e-?\d+)$/i

/** Double quotes of YAML accept every escape of JSON. */
function scalarText(value: JsonValue): string {
  if (typeof value === 'string' && plainText.test(value) && !reserved.test(value)) return value
  if (typeof value === 'string' && /[\p{Cc}\u2028\u2029\ufeff]/u.test(value)) {
    return JSON.stringify(value).replace(
      /[\u007f-\u009f\u2028\u2029\ufeff]/g,
      (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`,
    )
  }
  const document = new Document([value], { ...reading })
  if (isSeq(document.contents)) document.contents.flow = true
  return document.toString(printing).trim().slice(1, -1).trim()
}
