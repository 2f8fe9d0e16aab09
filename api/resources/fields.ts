// Derives the schema of a body's field from that of the file: with the same limits, and without
// defaults.
import { Type } from '#lib/schema/type.ts'
import type { Static, TObject, TSchema } from '#lib/schema/type.ts'
import type { JsonObject, JsonValue } from '#compiler/yaml/text.ts'
import { patternAdvice } from '#lib/text/patterns.ts'

type Keywords = Readonly<Record<string, unknown>>

/**
 * The schema without its default: a required field has none, and a field that a PATCH omits stays.
 */
export function plain<Schema extends TSchema>(schema: Schema, more: Keywords = {}) {
  const keywords: Record<string, unknown> = { ...(schema as Keywords), ...more }
  if (!('default' in more)) delete keywords['default']
  // Describes a pattern in words that people know, also when it permits more.
  const words = patternAdvice[String((schema as Keywords)['pattern'])]
  if (words !== undefined) keywords['x-form'] ??= words
  return Type.Unsafe<Static<Schema>>(keywords)
}

export function optional<Schema extends TSchema>(schema: Schema, more: Keywords = {}) {
  return Type.Optional(plain(schema, more))
}

/**
 * The schema with its default shown: it holds when a whole body, such as that of a POST, omits it.
 */
export function defaulted<Schema extends TSchema>(schema: Schema, more: Keywords = {}) {
  return optional(schema, { ...defaultIn(schema), ...more })
}

/** An optional choice that also accepts the empty text, which stands for the default. */
export function orEmpty<Schema extends TSchema>(
  schema: Schema,
  how: typeof optional | typeof defaulted | typeof plain,
) {
  const values = (schema as Keywords)['enum'] as readonly string[]
  return how(Type.Unsafe<Static<Schema> | ''>(schema as Keywords), { enum: [...values, ''] })
}

/** A field that also accepts the zero value of its type, which stands for the default. */
export function orZero<Schema extends TSchema>(schema: Schema) {
  const keywords = schema as Keywords
  const more: Record<string, unknown> = {}
  if (Number(keywords['minimum']) > 0) Object.assign(more, numberOrZero(keywords))
  if (Array.isArray(keywords['enum'])) more['enum'] = [...(keywords['enum'] as string[]), '']
  if (typeof keywords['pattern'] === 'string') more['pattern'] = `^$|${keywords['pattern']}`
  return defaulted(schema, more)
}

function numberOrZero({ type, minimum, maximum, default: standard }: Keywords): Keywords {
  const between = { type, exclusiveMinimum: 0, exclusiveMaximum: minimum }
  const [least, most, instead] = [minimum, maximum, standard].map(String)
  return {
    minimum: 0,
    ...(minimum === 1 ? {} : { not: between }),
    'x-expected': `a whole number from ${least} to ${most}, or 0 for the default ${instead}`,
  }
}

function defaultIn(schema: TSchema): Keywords {
  const { default: value } = schema as { readonly default?: unknown }
  return value === undefined ? {} : { default: value }
}

/** Removes fields that have their default: a file need not contain them. */
export function withoutDefaults(fields: JsonObject, schema: TObject): JsonObject {
  return Object.fromEntries(
    Object.entries(fields).filter(([key, value]) => value !== defaultOf(schema, key)),
  )
}

/** For a change: a field with its default is removed from the file. */
export function patchOf(fields: JsonObject, schema: TObject): JsonObject {
  return Object.fromEntries(
    Object.entries(fields).map(([key, value]) => [
      key,
      value === defaultOf(schema, key) ? null : value,
    ]),
  )
}

/**
 * @param key of a field of the schema
 *
 * @returns undefined: it has no default
 */
export function defaultOf(schema: TObject, key: string): JsonValue | undefined {
  return (schema.properties[key] as { readonly default?: JsonValue } | undefined)?.default
}
