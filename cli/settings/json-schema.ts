// JSON Schema for settings, as data, and its check: the few words of it that settings use. A node
// that only answers reads its settings and nothing else, and a library of types is 18 MB of it.

export interface Schema {
  readonly type?: 'string' | 'integer' | 'boolean' | 'array' | 'object'
  readonly enum?: readonly string[]
  readonly minimum?: number
  readonly maximum?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly pattern?: string
  readonly items?: Schema
  /** One of the items at least is this text. */
  readonly contains?: { readonly const: string }
  readonly minItems?: number
  readonly maxItems?: number
  readonly required?: readonly string[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly patternProperties?: Readonly<Record<string, Schema>>
  readonly additionalProperties?: boolean
  readonly maxProperties?: number
}

type Options = Readonly<Record<string, unknown>>

const optional = new WeakSet<Schema>()

/** Each gives a schema with `options` as they are. */
export const Type = Object.freeze({
  String: (options: Options = {}): Schema => ({ type: 'string', ...options }),
  Integer: (options: Options = {}): Schema => ({ type: 'integer', ...options }),
  Boolean: (options: Options = {}): Schema => ({ type: 'boolean', ...options }),
  Enum: (values: readonly string[], options: Options = {}): Schema => ({
    enum: values,
    ...options,
  }),
  Array: (items: Schema, options: Options = {}): Schema => ({ type: 'array', items, ...options }),
  Object: (properties: Readonly<Record<string, Schema>>, options: Options = {}): Schema => {
    const required = Object.keys(properties).filter((name) => !optional.has(properties[name]!))
    const needs = required.length === 0 ? {} : { required }
    return { type: 'object', ...needs, properties, ...options }
  },
  /** Of names that fit the pattern of `key`. */
  Record: (key: Schema, value: Schema, options: Options = {}): Schema => ({
    type: 'object',
    patternProperties: { [key.pattern ?? '^.*$']: value },
    ...options,
  }),
  /** May be left out of the object that has it. */
  Optional: (schema: Schema): Schema => {
    const copy = { ...schema }
    optional.add(copy)
    return copy
  },
})

/** Whether a value has the form of a schema. */
export function fitsSchema(schema: Schema, value: unknown): boolean {
  if (schema.enum !== undefined) return schema.enum.includes(value as string)
  const { type } = schema
  switch (type) {
    case 'string':
      return typeof value === 'string' && isText(schema, value)
    case 'integer':
      return Number.isInteger(value) && isWithin(value as number, schema.minimum, schema.maximum)
    case 'boolean':
      return typeof value === 'boolean'
    case 'array':
      return Array.isArray(value) && isList(schema, value)
    case 'object':
      return isPlainObject(value) && isObjectOf(schema, value)
    case undefined:
      break
  }
  return true
}

const isWithin = (count: number, least = -Infinity, most = Infinity): boolean =>
  count >= least && count <= most

function isText({ minLength, maxLength, pattern }: Schema, text: string): boolean {
  // Characters, not units of UTF-16.
  const isLong = minLength !== undefined || maxLength !== undefined
  if (isLong && !isWithin([...text].length, minLength, maxLength)) return false
  return pattern === undefined || new RegExp(pattern, 'u').test(text)
}

function isList({ items, contains, ...schema }: Schema, list: readonly unknown[]): boolean {
  return (
    isWithin(list.length, schema.minItems, schema.maxItems) &&
    (contains === undefined || list.includes(contains.const)) &&
    list.every((item) => items === undefined || fitsSchema(items, item))
  )
}

const isPlainObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function isObjectOf(schema: Schema, value: Readonly<Record<string, unknown>>): boolean {
  const { properties = {}, patternProperties = {}, required = [] } = schema
  const names = Object.keys(value)
  if (names.length > (schema.maxProperties ?? Infinity)) return false
  if (!required.every((name) => Object.hasOwn(value, name))) return false
  const patterns = Object.entries(patternProperties)
  return names.every((name) => {
    const own = Object.hasOwn(properties, name) ? properties[name] : undefined
    const forms = patterns.filter(([pattern]) => new RegExp(pattern, 'u').test(name))
    const schemas = [...(own === undefined ? [] : [own]), ...forms.map(([, form]) => form)]
    if (schemas.length === 0) return schema.additionalProperties !== false
    return schemas.every((form) => fitsSchema(form, value[name]))
  })
}
