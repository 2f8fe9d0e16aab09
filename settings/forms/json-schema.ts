// JSON Schema for settings, as plain data, and its check. A node that only answers reads its
// settings and nothing else, and the library of types that other schemas use takes 18 MiB.
import { Ajv } from 'ajv'

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
  /** An object whose keys fit the pattern of `key`. */
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

// Settings have keywords of their own beside those of JSON Schema, such as `x-default`.
// That they are schemas, a test checks: here it would take 40 ms of each start.
const ajv = new Ajv({ strict: false, logger: false, validateSchema: false })

/** Whether a value has the form of a schema. */
export const fitsSchema = (schema: Schema, value: unknown): boolean => ajv.validate(schema, value)
