// The annotations of our schemas beyond JSON Schema, such as "not implemented yet".
import { Type } from '#lib/schema/type.ts'

/** `true` on a field: its values belong to a later version. */
export const plannedKeyword = 'x-planned'

/** A group of settings of a later version: only an empty mapping is accepted. */
export function plannedGroup(description: string) {
  return Type.Optional(
    Type.Object(
      {},
      { description, maxProperties: 0, additionalProperties: true, [plannedKeyword]: true },
    ),
  )
}

/** One value of a fixed list. */
export function choice<const Values extends readonly string[]>(
  values: Values,
  options: { description: string; default?: Values[number] },
) {
  return Type.Unsafe<Values[number]>({ type: 'string', enum: [...values], ...options })
}
