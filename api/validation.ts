// Whether a part of a request fits its schema; if not, a sentence that names the field.
import { Ajv } from 'ajv'
import type { ErrorObject } from 'ajv'
import type { TSchema } from 'typebox'
import { suggest } from '#lib/suggest.ts'

/** Where a value stands; `body` also names the whole of it. */
export type Part = 'body' | 'query' | 'params'

const options = {
  allErrors: true,
  verbose: true,
  useDefaults: true,
  allowUnionTypes: true,
} as const
const bodies = new Ajv(options).addKeyword('x-expected')
/** Parts of a URL are text: `10` is a number there. */
const texts = new Ajv({ ...options, coerceTypes: true }).addKeyword('x-expected')

const faultsShownMax = 5

/**
 * Fills in defaults in place.
 *
 * @returns a sentence for each fault, at most five; empty when all is right
 */
export function createCheck(schema: TSchema, part: Part): (value: unknown) => string[] {
  const check = (part === 'body' ? bodies : texts).compile(schema)
  return (value) => {
    if (check(value)) return []
    return [...new Set((check.errors ?? []).map((error) => sentenceOf(error, part)))].slice(
      0,
      faultsShownMax,
    )
  }
}

/** `ipAddress: is required`; the keyword of the fault decides the words. */
function sentenceOf(error: ErrorObject, part: Part): string {
  const { keyword, instancePath, params, parentSchema = {} } = error
  const at = instancePath.slice(1).replaceAll('/', '.')
  const inside = (name: string): string => (at === '' ? name : `${at}.${name}`)
  if (keyword === 'required') return `${inside(String(params['missingProperty']))}: is required`
  if (keyword === 'additionalProperties') {
    const name = String(params['additionalProperty']).slice(0, 100)
    const near = suggest(name, Object.keys((parentSchema['properties'] ?? {}) as object))
    const hint = near === undefined ? '' : `; did you mean "${near}"?`
    return `${inside(name)}: there is no such ${part === 'query' ? 'parameter' : 'field'}${hint}`
  }
  const field = at === '' ? part : at
  return `${field}: ${expected(parentSchema)}, ${shown(error.data)}`
}

type Words = Readonly<Record<string, unknown>>

/** What to write. The schema may say it itself, in `x-expected`. */
function expected(schema: Words): string {
  const own = schema['x-expected']
  if (typeof own === 'string') return `must be ${own}`
  if (Array.isArray(schema['enum'])) return `must be one of ${schema['enum'].join(', ')}`
  const types = [schema['type'] ?? []].flat() as string[]
  const words = types.map((type) => `${typeWords[type] ?? type}${boundsOf(type, schema)}`)
  return `must be ${words.join(' or ')}`
}

const typeWords: Readonly<Record<string, string>> = {
  string: 'a text',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  null: 'null',
}

function boundsOf(type: string, schema: Words): string {
  const range = (least: unknown, most: unknown, unit: string): string => {
    if (least !== undefined && most !== undefined)
      return ` ${least as number} to ${most as number}${unit}`
    if (least !== undefined) return ` ${least as number}${unit} or more`
    return most === undefined ? '' : ` ${most as number}${unit} or less`
  }
  const text = (words: string): string => (words === '' ? '' : ` of${words}`)
  switch (type) {
    case 'string':
      return text(range(schema['minLength'], schema['maxLength'], ' characters'))
    case 'array':
      return text(range(schema['minItems'], schema['maxItems'], ' entries'))
    case 'integer':
    case 'number': {
      const words = range(schema['minimum'], schema['maximum'], '')
      return words.replace(/^ (\S+) to/, ' from $1 to')
    }
    default:
      return ''
  }
}

/** Values of requests are shown back only where they are short and cannot be secrets. */
function shown(value: unknown): string {
  if (value === null) return 'not null'
  if (typeof value === 'number' || typeof value === 'boolean') return `not ${value}`
  if (Array.isArray(value)) return `not a list of ${value.length}`
  return typeof value === 'string' ? `not this text of ${value.length} characters` : 'not an object'
}
