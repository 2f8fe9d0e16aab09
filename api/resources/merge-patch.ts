// Makes the schema of a PATCH body: fields of an object, each of which may be null (RFC 7396).
import { Type } from '#lib/schema/type.ts'
import type { Static, TSchema } from '#lib/schema/type.ts'
import { closed } from '#http/shapes.ts'

type Fields = Readonly<Record<string, TSchema>>

type Patch<F extends Fields, Kept extends keyof F> = {
  readonly [Key in keyof F]?: Static<F[Key]> | (Key extends Kept ? never : null)
}

/**
 * A field that is left out stays. Null removes it from the file, so that its default holds; a field
 * without a default cannot be null.
 *
 * @param kept names of the fields without a default
 */
export function mergePatchOf<F extends Fields, const Kept extends keyof F & string>(
  fields: F,
  kept: readonly Kept[],
) {
  const properties = Object.entries(fields).map(([name, schema]) => [
    name,
    Type.Optional(kept.some((one) => one === name) ? schema : orNull(schema)),
  ])
  return Type.Unsafe<Patch<F, Kept>>(
    closed(Object.fromEntries(properties) as Record<string, TSchema>),
  )
}

function orNull(schema: TSchema): TSchema {
  const {
    type,
    enum: values,
    ...keywords
  } = schema as {
    type?: string[]
    enum?: unknown[]
    patternProperties?: Readonly<Record<string, TSchema>>
  }
  const { patternProperties } = keywords
  return Type.Unsafe({
    ...keywords,
    // The values of a map are merged one by one, so that null removes one of them.
    ...(patternProperties === undefined
      ? {}
      : { patternProperties: eachOrNull(patternProperties) }),
    type: [...new Set([type ?? [], 'null'].flat())],
    ...(values === undefined ? {} : { enum: [...values, null] }),
  })
}

function eachOrNull(values: Readonly<Record<string, TSchema>>): Record<string, TSchema> {
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, orNull(value)]))
}
