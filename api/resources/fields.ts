// How a field of a file becomes a field of a body: the same limits, and no defaults filled in.
import { Type } from 'typebox'
import type { Static, TObject, TSchema } from 'typebox'
import type { JsonObject, JsonValue } from '#compiler/yaml-text.ts'
import { patternWords } from '#schemas/patterns.ts'

type Keywords = Readonly<Record<string, unknown>>

/** The schema without its default: what a body does not say must stay unsaid. */
export function plain<Schema extends TSchema>(schema: Schema, more: Keywords = {}) {
  const keywords: Record<string, unknown> = { ...(schema as Keywords), ...more }
  delete keywords['default']
  // Of the pattern that people know, whatever else is allowed beside it.
  const words = patternWords[String((schema as Keywords)['pattern'])]
  if (words !== undefined) keywords['x-form'] ??= words
  return Type.Unsafe<Static<Schema>>(keywords)
}

export function optional<Schema extends TSchema>(schema: Schema, more: Keywords = {}) {
  return Type.Optional(plain(schema, more))
}

/** An optional choice that also takes the empty text, which stands for the default. */
export function orEmpty<Schema extends TSchema>(schema: Schema) {
  const values = (schema as Keywords)['enum'] as readonly string[]
  return optional(Type.Unsafe<Static<Schema> | ''>(schema as Keywords), { enum: [...values, ''] })
}

/** A field that also takes the zero value of its type, which stands for the default. */
export function orZero<Schema extends TSchema>(schema: Schema) {
  const keywords = schema as Keywords
  const more: Record<string, unknown> = {}
  if (keywords['minimum'] !== undefined) more['minimum'] = 0
  if (Array.isArray(keywords['enum'])) more['enum'] = [...(keywords['enum'] as string[]), '']
  if (typeof keywords['pattern'] === 'string') more['pattern'] = `^$|${keywords['pattern']}`
  return optional(schema, more)
}

/** What a file need not say: its fields with their defaults. */
export function withoutDefaults(fields: JsonObject, schema: TObject): JsonObject {
  return Object.fromEntries(
    Object.entries(fields).filter(([key, value]) => value !== defaultOf(schema, key)),
  )
}

/** For a change: what goes back to its default is removed from the file. */
export function patchOf(fields: JsonObject, schema: TObject): JsonObject {
  return Object.fromEntries(
    Object.entries(fields).map(([key, value]) => [
      key,
      value === defaultOf(schema, key) ? null : value,
    ]),
  )
}

/** @param key of a field of the schema; undefined: it has no default */
export function defaultOf(schema: TObject, key: string): JsonValue | undefined {
  return (schema.properties[key] as { readonly default?: JsonValue } | undefined)?.default
}
