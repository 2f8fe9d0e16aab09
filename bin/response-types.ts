// Writes the types of the API's responses, against which the dashboard is checked.

export interface Schema {
  readonly $ref?: string
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly Schema[]
  readonly type?: string | readonly string[]
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly patternProperties?: Readonly<Record<string, Schema>>
  readonly additionalProperties?: boolean | Schema
  readonly default?: unknown
}

interface Operation {
  readonly responses?: Readonly<Record<string, { readonly content?: Content }>>
}
type Content = Readonly<Record<string, { readonly schema?: Schema }>>

/** Part of an OpenAPI document that is read here. */
export interface Described {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
}

/** @returns `paths[PATH][METHOD].responses[STATUS].content[TYPE]`; refusals are left out */
export function responseTypes({ paths, components }: Described): string {
  const shared = Object.entries(components.schemas).map(
    ([name, schema]) => `export type ${name} = ${typeOf(schema)}\n`,
  )
  const answers = record(paths, (methods) => record(methods, operationType))
  return `${shared.join('')}export interface paths ${answers}\n`
}

function operationType({ responses = {} }: Operation): string {
  const given = Object.entries(responses).filter(([status]) => /^2/.test(status))
  const contentOf = ({ content = {} }: { readonly content?: Content }): string =>
    record(content, ({ schema }) => typeOf(schema ?? {}))
  const types = record(Object.fromEntries(given), (one) => `{ content: ${contentOf(one)} }`)
  return `{ responses: ${types} }`
}

const record = <T>(from: Readonly<Record<string, T>>, type: (value: T) => string): string =>
  `{ ${Object.entries(from)
    .map(([key, value]) => `${/^\d+$/.test(key) ? key : JSON.stringify(key)}: ${type(value)}`)
    .join('; ')} }`

/** @param isAnswer false: a field with a default may be left out */
export function typeOf(schema: Schema, isAnswer = true): string {
  const { $ref, enum: values = 'const' in schema ? [schema.const] : undefined, anyOf } = schema
  if ($ref !== undefined) return $ref.slice($ref.lastIndexOf('/') + 1)
  if (values !== undefined) return values.map((value) => JSON.stringify(value)).join(' | ')
  if (anyOf !== undefined) return anyOf.map((one) => typeOf(one, isAnswer)).join(' | ')
  const types = schema.type === undefined ? ['unknown'] : [schema.type].flat()
  return types.map((type) => plainTypeOf(type, schema, isAnswer)).join(' | ')
}

function plainTypeOf(type: string, schema: Schema, isAnswer: boolean): string {
  if (type === 'integer') return 'number'
  if (type === 'array') return `(${typeOf(schema.items ?? {}, isAnswer)})[]`
  return type === 'object' ? objectType(schema, isAnswer) : type
}

function objectType(schema: Schema, isAnswer: boolean): string {
  const { properties = {}, required = [], patternProperties, additionalProperties } = schema
  const fields = Object.entries(properties).map(([key, value]) => {
    // A field with a default is always in the answer.
    const isThere = required.includes(key) || (isAnswer && value.default !== undefined)
    return `${JSON.stringify(key)}${isThere ? '' : '?'}: ${typeOf(value, isAnswer)}`
  })
  const [pattern] = Object.values(patternProperties ?? {})
  const rest = pattern ?? (typeof additionalProperties === 'object' ? additionalProperties : {})
  if (fields.length === 0) return `Record<string, ${typeOf(rest, isAnswer)}>`
  return `{ ${fields.join('; ')} }`
}
