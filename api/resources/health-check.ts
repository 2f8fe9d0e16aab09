// Defines the JSON of a health check, as the API shows and accepts it.
import { Type } from '#lib/schema/type.ts'
import type { Static, TSchema } from '#lib/schema/type.ts'
import type { JsonObject } from '#compiler/yaml/text.ts'
import { HealthCheck as HealthCheckInFile } from '#schemas/objects/health-check.ts'
import { closed } from '#http/shapes.ts'
import { orZero, patchOf, plain, withoutDefaults } from './fields.ts'
import { mergePatchOf } from './merge-patch.ts'
import { isFields } from '#lib/text/json.ts'

const { properties } = HealthCheckInFile

/** Fields with their types alone: what is shown has no bounds. */
export const HealthCheck = Type.Object(
  Object.fromEntries(
    Object.entries(properties as object as Record<string, Keywords>).map(([name, field]) => [
      name,
      shapeOf(field),
    ]),
  ),
  { title: 'HealthCheck' },
)

interface Keywords {
  readonly type: string | readonly string[]
  readonly items?: Keywords
}

function shapeOf({ type, items }: Keywords): TSchema {
  if (typeof type !== 'string') return Type.Union(type.map((one) => shapeOf({ type: one })))
  if (items !== undefined) return Type.Array(shapeOf(items))
  return type === 'object' ? Type.Record(Type.String(), Type.String()) : Type.Unsafe({ type })
}

type Fields = { readonly [Key in keyof typeof properties]?: Static<(typeof properties)[Key]> }

/** Every field may be left out or be zero: then its default holds. */
export const HealthCheckBody = Type.Unsafe<Fields>(
  closed(
    Object.fromEntries(
      Object.entries({ ...properties, ...describedFields() } as Record<string, TSchema>).map(
        ([name, schema]) => [name, orZero(schema)],
      ),
    ),
  ),
)
export type HealthCheckBody = Static<typeof HealthCheckBody>

export const HealthCheckPatch = mergePatchOf(
  Object.fromEntries(
    Object.entries(properties as Record<string, TSchema>).map(([name, schema]) => [
      name,
      plain(orZero(schema)),
    ]),
  ),
  [],
) as unknown as ReturnType<typeof Type.Unsafe<HealthCheckPatch>>
export type HealthCheckPatch = { readonly [Key in keyof Fields]?: Fields[Key] | null }

/** Adds to a field with several values how to write them. */
function describedFields(): Record<string, TSchema> {
  const { httpExpectedStatuses, httpHeaders } = properties
  const status = 'a status such as 200 or a range such as "200-299"'
  const value = 'printable ASCII, 1024 characters at most, without blanks at its ends'
  return {
    httpExpectedStatuses: saying(httpExpectedStatuses, 'items', { 'x-expected': status }),
    httpHeaders: saying(httpHeaders, 'patternProperties', { 'x-expected': value }),
  }
}

function saying(
  schema: TSchema,
  part: 'items' | 'patternProperties',
  words: Readonly<Record<string, string>>,
): TSchema {
  const keywords = schema as unknown as Record<typeof part, Record<string, object>>
  const inside = keywords[part]
  const said =
    part === 'items'
      ? { ...inside, ...words }
      : Object.fromEntries(
          Object.entries(inside).map(([key, value]) => [key, { ...value, ...words }]),
        )
  return Type.Unsafe({ ...keywords, [part]: said })
}

/** The one field whose zero has a meaning: it ignores the status. */
const zeroCounts: ReadonlySet<string> = new Set(['httpExpectedStatus'])

export function specOfHealthCheck(fields: HealthCheckBody): JsonObject {
  const said = Object.entries(fields).filter(([name, value]) => !isUnset(name, value))
  return withoutDefaults(Object.fromEntries(said), HealthCheckInFile)
}

/** The patch for the group in the file: null removes a field. */
export function patchOfHealthCheck(fields: HealthCheckPatch): JsonObject {
  // A map is merged key by key: an empty one changes nothing.
  const said = Object.entries(fields).map(([name, value]) => [
    name,
    isUnset(name, value) && !isFields(value) ? null : value,
  ])
  return patchOf(Object.fromEntries(said) as JsonObject, HealthCheckInFile)
}

/** A client that sends an empty value means the default. */
function isUnset(name: string, value: unknown): boolean {
  if (value === 0) return !zeroCounts.has(name)
  return isEmpty(value)
}

function isEmpty(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.keys(value).length === 0
  return value === ''
}
