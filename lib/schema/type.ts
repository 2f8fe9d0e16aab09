// Builds JSON Schemas as plain data, each with the TypeScript type of what it describes.

declare const is: unique symbol
declare const absent: unique symbol

/** A JSON Schema, as plain data. */
export interface TSchema {
  /** Only for the type checker. */
  readonly [is]: unknown
}
/** The type that a schema describes. */
export type Static<S extends TSchema> = S[typeof is]
/** The same for those who only read it. */
export type Shown<S extends TSchema> = DeepReadonly<Static<S>>
type DeepReadonly<T> = T extends object ? { readonly [K in keyof T]: DeepReadonly<T[K]> } : T

/** The schema of a `T`. */
export type Of<T> = TSchema & { readonly [is]: T }
/** May be absent from its object. */
export type Optional<S> = S & { readonly [absent]: true }
type Properties = Readonly<Record<string, TSchema>>
type ObjectOf<P extends Properties> = Flat<
  {
    -readonly [K in keyof P as P[K] extends Optional<unknown> ? never : K]: Static<P[K]>
  } & { -readonly [K in keyof P as P[K] extends Optional<unknown> ? K : never]?: Static<P[K]> }
>
type Flat<T> = { [K in keyof T]: T[K] }

export interface TObject<P extends Properties = Properties> extends TSchema {
  readonly [is]: ObjectOf<P>
  readonly properties: P
}

type Options = Readonly<Record<string, unknown>>

const optional = new WeakSet<TSchema>()

function made<T>(keywords: Options, options: Options): Of<T> {
  return { ...keywords, ...options } as unknown as Of<T>
}

/** Each function returns a schema with `options` unchanged. */
export const Type = Object.freeze({
  String: (options: Options = {}) => made<string>({ type: 'string' }, options),
  Integer: (options: Options = {}) => made<number>({ type: 'integer' }, options),
  Number: (options: Options = {}) => made<number>({ type: 'number' }, options),
  Boolean: (options: Options = {}) => made<boolean>({ type: 'boolean' }, options),
  Null: (options: Options = {}) => made<null>({ type: 'null' }, options),
  Unknown: (options: Options = {}) => made<unknown>({}, options),
  /** A given schema, whose type is stated by the caller. */
  Unsafe: <T = unknown>(keywords: object) => made<T>({}, { ...keywords }),
  Literal: <const V extends string | number | boolean>(value: V, options: Options = {}) =>
    made<V>({ type: typeof value, const: value }, options),
  Enum: <const V extends string>(values: readonly V[], options: Options = {}) =>
    made<V>({ enum: values }, options),
  Union: <const S extends readonly TSchema[]>(anyOf: S, options: Options = {}) =>
    made<Static<S[number]>>({ anyOf }, options),
  Array: <S extends TSchema>(items: S, options: Options = {}) =>
    made<Static<S>[]>({ type: 'array', items }, options) as Of<Static<S>[]> & { readonly items: S },
  /** An object whose keys fit the pattern of `key`. */
  Record: <S extends TSchema>(key: TSchema, of: S, options: Options = {}) => {
    const { pattern = '^.*$' } = key as { readonly pattern?: string }
    const patternProperties = { [pattern]: of }
    return made<Record<string, Static<S>>>({ type: 'object', patternProperties }, options)
  },
  Object: <P extends Properties>(properties: P, options: Options = {}) => {
    const required = Object.keys(properties).filter((name) => !optional.has(properties[name]!))
    const needs = required.length === 0 ? {} : { required }
    const keywords = { type: 'object', ...needs, properties }
    return made<ObjectOf<P>>(keywords, options) as TObject<P>
  },
  Optional: <S extends TSchema>(schema: S): Optional<S> => {
    const copy = { ...schema }
    optional.add(copy)
    return copy as Optional<S>
  },
})
