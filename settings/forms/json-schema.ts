// JSON Schema for settings, as plain data.

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

declare const value: unique symbol
declare const absent: unique symbol
declare const milliseconds: unique symbol

/** The schema of a `T`. What is in brackets is for the type checker alone. */
export type Of<T> = Schema & { readonly [value]: { readonly is: T } }
/** May be left out of the object that has it. */
export type Optional<T> = Of<T> & { readonly [absent]: true }
/** Written as a duration; its value has `Ms` behind its name. */
export type Milliseconds = Optional<number> & { readonly [milliseconds]: true }
/** What a schema is the schema of. */
export type ValueOf<S> = S extends Of<infer T> ? T : never

type Properties = Readonly<Record<string, Schema>>
type ObjectOf<P extends Properties> = {
  readonly [K in keyof P as P[K] extends Optional<unknown> ? never : K]: ValueOf<P[K]>
} & { readonly [K in keyof P as P[K] extends Optional<unknown> ? K : never]?: ValueOf<P[K]> }
/** The same when defaults are in: nothing is left out. */
export type Settled<P extends Properties> = {
  readonly [K in keyof P as P[K] extends Milliseconds ? `${K & string}Ms` : K]: ValueOf<P[K]>
}

/** Each gives a schema with `options` as they are. */
export const Type = Object.freeze({
  String: (options: Options = {}) => ({ type: 'string', ...options }) as unknown as Of<string>,
  Integer: (options: Options = {}) => ({ type: 'integer', ...options }) as unknown as Of<number>,
  Boolean: (options: Options = {}) => ({ type: 'boolean', ...options }) as unknown as Of<boolean>,
  Enum: <V extends string>(values: readonly V[], options: Options = {}) =>
    ({ enum: values, ...options }) as unknown as Of<V>,
  Array: <S extends Schema>(items: S, options: Options = {}) =>
    ({ type: 'array', items, ...options }) as unknown as Of<readonly ValueOf<S>[]>,
  Object: <P extends Properties>(properties: P, options: Options = {}) => {
    const required = Object.keys(properties).filter((name) => !optional.has(properties[name]!))
    const needs = required.length === 0 ? {} : { required }
    return { type: 'object', ...needs, properties, ...options } as unknown as Of<ObjectOf<P>>
  },
  /** An object whose keys fit the pattern of `key`. */
  Record: <S extends Schema>(key: Schema, of: S, options: Options = {}) =>
    ({
      type: 'object',
      patternProperties: { [key.pattern ?? '^.*$']: of },
      ...options,
    }) as unknown as Of<Readonly<Record<string, ValueOf<S>>>>,
  Optional: <T>(schema: Of<T>): Optional<T> => {
    const copy = { ...schema }
    optional.add(copy)
    return copy as Optional<T>
  },
})
