// Turns schema errors into findings: the field, its allowed values, and what was probably meant.
import { suggest } from '#lib/suggest.ts'
import { plannedKeyword } from '#schemas/forms/annotations.ts'
import type { JsonSchema } from '#schemas/json-schema.ts'
import { patternAdvice } from '#lib/text/patterns.ts'
import type { Kind } from '#schemas/kinds.ts'
import { nodeSettings } from '#schemas/objects/settings.ts'
import type { SchemaFault } from '#schemas/validator.ts'
import { keyAt, valueAt } from '#diagnostics/diagnostic.ts'
import type { Place, YamlPath } from '#diagnostics/diagnostic.ts'
import type { DiagnosticCode } from '#diagnostics/diagnostics.ts'
import type { Report } from '#diagnostics/finding.ts'
import { shapeHint, valueHint } from '#compiler/values/value-hints.ts'

/** Reports every fault, except those inside a part that is refused as a whole. */
export function reportFaults(faults: readonly SchemaFault[], report: Report, kind: Kind): void {
  const refused = faults.filter(isPlanned).map(({ path }) => path)
  const shown = faults
    .filter((fault) => !refused.some((path) => isBelow(fault.path, path)))
    .map((fault) => ({ fault, words: worded(fault, kind) }))
  // `prot` for `port` is one mistake: the field is not reported as missing, too.
  const misspelt = new Set(
    shown
      .filter(({ words }) => words.code === 'field-unknown')
      .map(({ fault, words }) => [...fault.path, words.suggestion].join('/')),
  )
  for (const { fault, words } of shown) {
    const { code, place, args, suggestion } = words
    const isMisspelt = code === 'field-missing' && misspelt.has([...fault.path, args[0]].join('/'))
    if (!isMisspelt) report(code, place, { args, suggestion })
  }
}

/** Paths of fields whose values cannot be trusted, including missing and misspelt ones. */
export function faultyPaths(faults: readonly SchemaFault[]): YamlPath[] {
  return faults.map(({ keyword, path, name = '', schema }) => {
    if (keyword === 'required') return [...path, name]
    if (keyword !== 'additionalProperties') return path
    // Without the field that was meant, neighbours may be judged wrongly.
    const known = Object.keys(schema['properties'] as JsonSchema)
    const meant = suggest(name, known)
    return meant === undefined ? path : [...path, meant]
  })
}

interface Worded {
  readonly code: DiagnosticCode
  readonly place: Place
  readonly args: readonly string[]
  readonly suggestion?: string | undefined
}

function worded(fault: SchemaFault, kind: Kind): Worded {
  const { path, keyword, name = '', schema, value } = fault
  const field = fieldName(path)
  const place = valueAt(...path)
  const limit = schema[keyword] as number
  if (isPlanned(fault)) return planned(fault)
  switch (keyword) {
    case 'additionalProperties':
      return unknownField(fault, kind)
    case 'required': {
      const args = [name, howToWrite(name, propertyOf(schema, name))]
      const isItem = typeof path.at(-1) === 'number'
      return { code: 'field-missing', place: isItem ? place : keyAt(...path), args }
    }
    case 'type': {
      const wanted = typeNames(schema['type'])
      // A list instead of a mapping calls for advice on indentation and dashes, not quotes.
      const isShape = [wanted, shown(value)].some((words) => containers.test(words))
      const hint = (isShape ? shapeHint : valueHint)(lastName(path), schema, value)
      const code = isShape ? 'field-shape' : 'field-type'
      return { code, place, args: [field, wanted, shown(value), hint.help] }
    }
    case 'enum': {
      // The empty text is allowed in places, but is no advice.
      const values = (schema['enum'] as string[]).map(String).filter((one) => one !== '')
      const suggestion = typeof value === 'string' ? suggest(value, values) : undefined
      return {
        code: 'field-value',
        place,
        args: [field, shown(value), values.join(', ')],
        suggestion,
      }
    }
    case 'const':
      return { code: 'field-value', place, args: [field, shown(value), shown(schema['const'])] }
    case 'minimum':
    case 'maximum':
      return { code: 'field-range', place, args: [field, rangeOf(schema), shown(value)] }
    case 'minLength':
    case 'maxLength':
      return length(
        field,
        place,
        lengthWord(keyword, limit, 'character'),
        String((value as string).length),
      )
    case 'minItems':
    case 'maxItems':
      return length(
        field,
        place,
        lengthWord(keyword, limit, 'entry'),
        String((value as unknown[]).length),
      )
    default: {
      const args = [field, shown(value), patternAdvice[schema['pattern'] as string] ?? '']
      return { code: 'field-format', place, args }
    }
  }
}

function unknownField({ path, name = '', schema }: SchemaFault, kind: Kind): Worded {
  const place = keyAt(...path, name)
  const full = [...path, name].join('.').replace(/^spec\./, '')
  if (kind === 'Settings' && nodeSettings.has(full)) {
    return { code: 'field-of-node', place, args: [full] }
  }
  if (path.length === 0 && isOfSpec(name, schema)) {
    return { code: 'field-outside-spec', place, args: [name] }
  }
  const known = Object.keys(schema['properties'] as JsonSchema)
  const args = [name, known.join(', ')]
  return { code: 'field-unknown', place, args, suggestion: suggest(name, known) }
}

function length(field: string, place: Place, wanted: string, actual: string): Worded {
  return { code: 'field-length', place, args: [field, wanted, actual] }
}

function lengthWord(keyword: string, limit: number, unit: 'character' | 'entry'): string {
  const plural = unit === 'entry' ? 'entries' : 'characters'
  return (
    `${keyword.startsWith('min') ? 'at least' : 'at most'} ${limit} ` +
    `${limit === 1 ? unit : plural}`
  )
}

/** True for a value that only a later version supports. */
function isPlanned({ schema }: SchemaFault): boolean {
  return schema[plannedKeyword] === true
}

function planned({ path }: SchemaFault): Worded {
  const args = [`the field ${fieldName(path)}`]
  return { code: 'not-available-yet', place: keyAt(...path), args }
}

function isBelow(path: YamlPath, parent: YamlPath): boolean {
  return path.length > parent.length && parent.every((step, i) => path[i] === step)
}

/** The name of the last key on the path. */
function lastName(path: YamlPath): string {
  return path.findLast((step) => typeof step === 'string') ?? 'spec'
}

function fieldName(path: YamlPath): string {
  const last = path.at(-1)
  if (typeof last === 'number') return `entry ${last + 1} of ${fieldName(path.slice(0, -1))}`
  return last ?? 'the object'
}

/** Whether a top-level field belongs one level below, in `spec`. */
function isOfSpec(name: string, schema: JsonSchema): boolean {
  const fields = (propertyOf(schema, 'spec')['properties'] ?? {}) as JsonSchema
  return Object.hasOwn(fields, name)
}

function propertyOf(schema: JsonSchema, name: string): JsonSchema {
  return (schema['properties'] as Record<string, JsonSchema>)[name] ?? {}
}

const containers = /^a (mapping|list)/

/** A clause with the form and, if the schema has it, the purpose of the field. */
function howToWrite(name: string, schema: JsonSchema): string {
  if (schema['type'] === 'object') {
    const fields = Object.keys((schema['properties'] ?? {}) as JsonSchema)
    const needed = (schema['required'] ?? []) as readonly string[]
    const below =
      needed.length > 0
        ? `with at least ${needed.join(', ')} below it, indented`
        : `with its fields below it, indented (${fields.join(', ')}), or "${name}: {}"`
    return `write "${name}:" ${below}`
  }
  const { description } = schema
  const what = schema['type'] === undefined ? 'a value' : typeNames(schema['type'])
  const purpose = typeof description === 'string' ? `: ${description.replace(/\.$/, '')}` : ''
  return `write "${name}:" and ${what}${purpose}`
}

const typePhrases: Readonly<Record<string, string>> = Object.freeze({
  string: 'text',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  object: 'a mapping',
  array: 'a list',
  null: 'null',
})

function typeNames(type: unknown): string {
  const names = Array.isArray(type) ? (type as string[]) : [String(type)]
  return names.map((name) => typePhrases[name] ?? name).join(' or ')
}

function rangeOf(schema: JsonSchema): string {
  return `${shown(schema['minimum'])} to ${shown(schema['maximum'])}`
}

/** A value for a message: short, quoted when it is text. */
export function shown(value: unknown): string {
  if (value === null || value === undefined) return 'nothing'
  if (Array.isArray(value)) return 'a list'
  // JSON cannot express what YAML reads from 1e999 or .nan.
  if (typeof value === 'number' && !Number.isFinite(value)) return 'a number that none can hold'
  if (typeof value === 'object') return 'a mapping'
  const text = JSON.stringify(value)
  return text.length > 60 ? `${text.slice(0, 57)}..."` : text
}
