// Validates a part of a request against its schema; the error names the field.
import { Ajv } from 'ajv'
import type { ErrorObject, ValidateFunction } from 'ajv'
import type { TSchema } from '#lib/schema/type.ts'
import { didYouMean, suggest } from '#lib/suggest.ts'

/** The part of a request; `body` also names the whole body. */
export type Part = 'body' | 'query' | 'params'

const options = {
  allErrors: true,
  verbose: true,
  allowUnionTypes: true,
} as const
/** Keywords with advice on a value, and with data for forms. */
const ownKeywords = ['x-expected', 'x-form', 'x-steps']
/** Fills in no defaults: handlers distinguish absent fields. */
const bodies = new Ajv(options).addVocabulary(ownKeywords)
/** For large bodies: a list of wrong entries would become a list of faults many times its size. */
const largeBodies = new Ajv({ ...options, allErrors: false }).addVocabulary(ownKeywords)
/** Parts of a URL are text, so `10` may be a number. */
const texts = new Ajv({ ...options, coerceTypes: true }).addVocabulary(ownKeywords)

const faultsShownMax = 5
/** Fields that are listed where none is near the one that was sent. */
const fieldsShownMax = 12

/**
 * Compiles the schema at the first call.
 *
 * @returns a sentence for each fault, at most five; empty: there is none
 */
export function createCheck(schema: TSchema, part: Part): (value: unknown) => string[] {
  return checkBy(part === 'body' ? bodies : texts, schema, part)
}

/** The same, and it ends at the first fault. */
export function createLargeCheck(schema: TSchema): (value: unknown) => string[] {
  return checkBy(largeBodies, schema, 'body')
}

function checkBy(ajv: Ajv, schema: TSchema, part: Part): (value: unknown) => string[] {
  let check: ValidateFunction | undefined
  return (value) => {
    check ??= ajv.compile(schema)
    if (check(value)) return []
    const faults = withoutAlternatives(check.errors ?? [])
    return [...new Set(faults.map((error) => sentenceOf(error, part)))].slice(0, faultsShownMax)
  }
}

/** Keywords that say of the value itself that it is another one than an alternative takes. */
const ofValue: ReadonlySet<string> = new Set(['type', 'const', 'enum'])

/**
 * A value that fits none of several alternatives has a fault for each. Where one of them takes its
 * type, the faults inside are told; else one sentence that names them all.
 */
function withoutAlternatives(errors: readonly ErrorObject[]): readonly ErrorObject[] {
  const hidden = new Set<ErrorObject>()
  for (const whole of errors) {
    if (whole.keyword !== 'anyOf' || typesOf(whole.parentSchema ?? {}) === '') continue
    const parts = errors.filter(({ schemaPath }) => schemaPath.startsWith(`${whole.schemaPath}/`))
    const [other, inside] = [[] as ErrorObject[], [] as ErrorObject[]]
    for (const one of parts) {
      const isOther = one.instancePath === whole.instancePath && ofValue.has(one.keyword)
      ;(isOther ? other : inside).push(one)
    }
    for (const one of inside.length > 0 ? [whole, ...other] : other) hidden.add(one)
  }
  return errors.filter((one) => !hidden.has(one))
}

/** `ipAddress: is required`; the keyword of the fault decides the words. */
function sentenceOf(error: ErrorObject, part: Part): string {
  const { keyword, instancePath, params, parentSchema = {} } = error
  const at = instancePath.slice(1).replaceAll('/', '.')
  const inside = (name: string): string => (at === '' ? name : `${at}.${name}`)
  if (keyword === 'required') return `${inside(String(params['missingProperty']))}: is required`
  if (keyword === 'additionalProperties') {
    const name = String(params['additionalProperty']).slice(0, 100)
    const known = Object.keys((parentSchema['properties'] ?? {}) as object)
    const what = part === 'query' ? 'parameter' : 'field'
    return `${inside(name)}: there is no such ${what}${fieldHint(name, known)}`
  }
  const field = at === '' ? part : at
  // Without a body, the framework checks null.
  if (field === 'body' && error.data === null) {
    return `body: is empty or null; send ${typesOf(parentSchema)} as JSON`
  }
  return `${field}: ${brokenRule(error)}`
}

/** Other APIs, and our files, write `pool` for `poolId`. */
function fieldHint(name: string, known: readonly string[]): string {
  const near = known.includes(`${name}Id`) ? `${name}Id` : suggest(name, known)
  if (near !== undefined) return `; did you mean "${near}"?`
  const isShort = known.length > 0 && known.length <= fieldsShownMax
  return isShort ? `; there are ${known.join(', ')}` : ''
}

/** Names the broken rule only, of several that a field may have. */
function brokenRule({ keyword, params, data, parentSchema = {} }: ErrorObject): string {
  const form: unknown = parentSchema['x-form']
  if (keyword === 'pattern' && typeof form === 'string') return form
  if (keyword === 'minLength' && params['limit'] === 1) return 'must not be empty'
  const isLength = keyword === 'minLength' || keyword === 'maxLength'
  const words =
    isLength && parentSchema['x-expected'] === undefined
      ? `must be ${typesOf(parentSchema)}`
      : expected(parentSchema)
  const near = keyword === 'enum' && typeof data === 'string' ? nearest(data, parentSchema) : ''
  return `${words}, ${shown(data)}${near}`
}

const nearest = (text: string, schema: JsonSchema): string =>
  didYouMean(text.slice(0, 100), valuesOf(schema).map(String))

type JsonSchema = Readonly<Record<string, unknown>>

/** Returns what a value must be; the schema may state it in `x-expected`. */
function expected(schema: JsonSchema): string {
  const own = schema['x-expected']
  if (typeof own === 'string') return `must be ${own}`
  if (Array.isArray(schema['enum'])) return `must be one of ${valuesOf(schema).join(', ')}`
  return `must be ${typesOf(schema)}`
}

/** Leaves out the empty text and null, which are no advice. */
function valuesOf(schema: JsonSchema): readonly unknown[] {
  return (schema['enum'] as readonly unknown[]).filter((value) => value !== '' && value !== null)
}

/** `a text of 1 to 255 characters` */
function typesOf(schema: JsonSchema): string {
  const alternatives = schema['anyOf']
  if (schema['type'] === undefined && Array.isArray(alternatives)) {
    const words = (alternatives as readonly JsonSchema[]).map(alternativeOf)
    return words.includes('') ? '' : [...new Set(words)].join(' or ')
  }
  const types = [schema['type'] ?? []].flat() as string[]
  const words = types.map((type) => `${typePhrases[type] ?? type}${boundsOf(type, schema)}`)
  return words.join(' or ')
}

function alternativeOf(schema: JsonSchema): string {
  if ('const' in schema) return JSON.stringify(schema['const'])
  return Array.isArray(schema['enum']) ? `one of ${valuesOf(schema).join(', ')}` : typesOf(schema)
}

const typePhrases: Readonly<Record<string, string>> = {
  string: 'a text',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  null: 'null',
}

function boundsOf(type: string, schema: JsonSchema): string {
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

/** Values are repeated only if they are short and cannot be secrets. */
function shown(value: unknown): string {
  if (value === null) return 'not null'
  if (typeof value === 'number' || typeof value === 'boolean') return `not ${value}`
  if (Array.isArray(value)) return `not a list of ${value.length}`
  if (typeof value !== 'string') return 'not an object'
  return `not this text of ${value.length} ${value.length === 1 ? 'character' : 'characters'}`
}
