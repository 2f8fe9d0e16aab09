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
  const pad = ' '.repeat(indent)
  const lines = document.toString(printing).replace(/\n$/, '').split('\n')
  return lines.map((line) => (line === '' ? line : pad + line)).join(eol)
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
