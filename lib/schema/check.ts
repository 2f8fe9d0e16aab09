// Makes a check of a JSON Schema, with the keywords that ours use. A library that generates code
// for it takes 0.2 s of each start.
import { assert } from '#lib/assert.ts'

export type JsonValue =
  null | boolean | number | string | readonly JsonValue[] | { readonly [key: string]: JsonValue }
export interface JsonSchema {
  readonly [keyword: string]: JsonValue
}

export interface SchemaFault {
  readonly keyword: string
  /** Keys and positions from the top of the object to the faulty value. */
  readonly path: readonly (string | number)[]
  /** The field that is missing, or unknown. */
  readonly name?: string
  /** The schema of the faulty value. */
  readonly schema: JsonSchema
  readonly value: unknown
}

interface Found {
  /** Where the check is just now. */
  readonly path: (string | number)[]
  readonly faults: SchemaFault[]
}
type Check = (value: unknown, found: Found) => void
type Holds = (value: unknown) => boolean
type Fields = Record<string, unknown>

/** `fill`: fields that are left out are written into the value, where they have a default. */
export type Defaults = 'fill' | 'leave'

/** Whether a value has the form of a schema. */
export const fitsSchema = (schema: object, value: unknown): boolean =>
  checkOf(schema, 'leave')(value).length === 0

/** @returns what finds every fault of a value */
export function checkOf(schema: object, defaults: Defaults) {
  const check = compiled(schema as JsonSchema, defaults)
  return (value: unknown): readonly SchemaFault[] => {
    const found: Found = { path: [], faults: [] }
    check(value, found)
    return found.faults
  }
}

const isAny: Holds = () => true
const isNumber: Holds = (value) => Number.isFinite(value)
const isText: Holds = (value) => typeof value === 'string'
const isList: Holds = (value) => Array.isArray(value)
const isMap: Holds = (value) => typeof value === 'object' && value !== null && !isList(value)

const types: Readonly<Record<string, Holds>> = Object.freeze({
  string: isText,
  number: isNumber,
  integer: (value) => Number.isInteger(value),
  boolean: (value) => typeof value === 'boolean',
  null: (value) => value === null,
  array: isList,
  object: isMap,
})

/** What a keyword says of a value alone: which values it concerns, and what holds for them. */
type Row = readonly [of: Holds, holds: (operand: never) => (value: never) => boolean]
const rows: Readonly<Record<string, Row>> = Object.freeze({
  type: [isAny, (names: string | string[]) => oneOf([names].flat().map((name) => types[name]!))],
  maximum: [isNumber, (most: number) => (value: number) => value <= most],
  minimum: [isNumber, (least: number) => (value: number) => value >= least],
  maxLength: [
    isText,
    (most: number) => (text: string) => text.length <= most || lengthOf(text) <= most,
  ],
  minLength: [
    isText,
    (least: number) => (text: string) => text.length >= 2 * least || lengthOf(text) >= least,
  ],
  pattern: [isText, patternOf],
  const: [isAny, (one: unknown) => (value: unknown) => value === one],
  enum: [
    isAny,
    (all: readonly unknown[]) => {
      const known = new Set(all)
      return (value: unknown) => known.has(value)
    },
  ],
  maxItems: [isList, (most: number) => (list: unknown[]) => list.length <= most],
  minItems: [isList, (least: number) => (list: unknown[]) => list.length >= least],
  maxProperties: [isMap, (most: number) => (map: Fields) => Object.keys(map).length <= most],
})

const structure = ['anyOf', 'items', 'contains', 'required', 'properties', 'patternProperties']
const known = new Set([...Object.keys(rows), ...structure, 'additionalProperties'])
const words = /^(\$\w+|title|description|default|x-.*)$/

function compiled(schema: JsonSchema, defaults: Defaults): Check {
  for (const keyword of Object.keys(schema)) {
    assert(known.has(keyword) || words.test(keyword), `a check knows the keyword ${keyword}`)
  }
  const checks = Object.entries(rows).flatMap(([keyword, [of, holds]]): Check[] => {
    const operand = schema[keyword]
    if (operand === undefined) return []
    const doesHold = (holds as (operand: JsonValue) => Holds)(operand)
    return [
      (value, found) => {
        if (of(value) && !doesHold(value)) report(found, keyword, schema, value)
      },
    ]
  })
  const inner = (part: JsonValue) => compiled(part as JsonSchema, defaults)
  const { anyOf, items, contains } = schema
  // What does not fit fills in nothing, and what fits is not known before.
  if (anyOf !== undefined) checks.push(checkOfUnion(schema, anyOf as readonly JsonSchema[]))
  if (items !== undefined) checks.push(checkOfItems(inner(items)))
  if (contains !== undefined) {
    const check = checkOf(contains as JsonSchema, 'leave')
    checks.push((list, found) => {
      if (!Array.isArray(list) || list.some((item) => check(item).length === 0)) return
      report(found, 'contains', schema, list)
    })
  }
  const ofMap = checkOfMap(schema, defaults, inner)
  return (value, found) => {
    for (const check of checks) check(value, found)
    if (isMap(value)) ofMap(value as Fields, found)
  }
}

function checkOfUnion(schema: JsonSchema, parts: readonly JsonSchema[]): Check {
  const checks = parts.map((part) => compiled(part, 'leave'))
  return (value, found) => {
    const faults: SchemaFault[] = []
    for (const check of checks) {
      const before = faults.length
      check(value, { path: found.path, faults })
      if (faults.length === before) return
    }
    found.faults.push(...faults)
    report(found, 'anyOf', schema, value)
  }
}

function checkOfItems(check: Check): Check {
  return (list, found) => {
    if (!Array.isArray(list)) return
    for (let i = 0; i < list.length; i++) below(i, check, list[i], found)
  }
}

function checkOfMap(schema: JsonSchema, defaults: Defaults, inner: (part: JsonValue) => Check) {
  const { required = [], additionalProperties = true } = schema
  const properties = (schema['properties'] ?? {}) as Readonly<Record<string, JsonSchema>>
  const fields = new Map(Object.entries(properties).map(([name, part]) => [name, inner(part)]))
  const filled = defaults === 'leave' ? [] : defaultsOf(properties)
  const patterns = Object.entries((schema['patternProperties'] ?? {}) as JsonSchema).map(
    ([pattern, part]) => [patternOf(pattern), inner(part)] as const,
  )
  const additional = typeof additionalProperties === 'object' ? inner(additionalProperties) : null
  const isOpen = additionalProperties === true
  return (map: Fields, found: Found): void => {
    for (const [name, value] of filled) if (map[name] === undefined) map[name] = copyOf(value)
    for (const name of required as readonly string[]) {
      if (map[name] === undefined) report(found, 'required', schema, map, name)
    }
    if (!isOpen) {
      for (const name in map) {
        if (fields.has(name) || patterns.some(([fits]) => fits(name))) continue
        if (additional !== null) below(name, additional, map[name], found)
        else report(found, 'additionalProperties', schema, map, name)
      }
    }
    for (const [name, check] of fields) {
      const value = map[name]
      if (value !== undefined) below(name, check, value, found)
    }
    for (const [fits, check] of patterns) {
      for (const name in map) if (fits(name)) below(name, check, map[name], found)
    }
  }
}

function below(step: string | number, check: Check, value: unknown, found: Found): void {
  found.path.push(step)
  check(value, found)
  found.path.pop()
}

function report(
  { path, faults }: Found,
  keyword: string,
  schema: JsonSchema,
  value: unknown,
  name?: string,
): void {
  const which = name === undefined ? {} : { name }
  faults.push({ keyword, path: [...path], ...which, schema, value })
}

function defaultsOf(properties: Readonly<Record<string, JsonSchema>>): [string, JsonValue][] {
  return Object.entries(properties).flatMap(([name, { default: value }]): [string, JsonValue][] => {
    if (value === undefined) return []
    const isFlat = !Object.values(value ?? {}).some((inner) => typeof inner === 'object')
    assert(isFlat, 'a default has nothing in it that two values could share')
    return [[name, value]]
  })
}

function copyOf(value: JsonValue): JsonValue {
  if (typeof value !== 'object' || value === null) return value
  return Array.isArray(value) ? [...(value as JsonValue[])] : { ...value }
}

function oneOf(all: readonly Holds[]): Holds {
  const [first, ...others] = all as readonly [Holds, ...Holds[]]
  return others.length === 0 ? first : (value) => all.some((holds) => holds(value))
}

function patternOf(pattern: string): (text: string) => boolean {
  const form = new RegExp(pattern, 'u')
  return (text) => form.test(text)
}

/** In characters, as JSON Schema counts: those of two units are one. */
function lengthOf(text: string): number {
  let length = 0
  for (const _ of text) length++
  return length
}
