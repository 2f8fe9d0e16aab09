// Defines small schemas that many routes share.
import { Type } from '#lib/schema/type.ts'
import type { Static, TSchema } from '#lib/schema/type.ts'

export const json = 'application/json; charset=utf-8'

export const ErrorBody = Type.Object({ error: Type.String() }, { $id: 'Error' })

/** Returned when the configuration in Git is not accepted: nothing is written on top of it. */
export const ConflictBody = Type.Object(
  {
    error: Type.String(),
    diagnostics: Type.Optional(
      Type.Array(
        Type.Object({
          code: Type.String({ description: 'For `gslbd explain`' }),
          message: Type.String(),
          help: Type.String(),
          field: Type.String(),
          file: Type.String(),
          line: Type.Integer(),
        }),
        { description: 'Of the head of the branch, where that is why' },
      ),
    ),
  },
  { $id: 'Conflict' },
)

/** An object that refuses unknown fields, as every body and query does. */
export const closed = <Properties extends Record<string, TSchema>>(properties: Properties) =>
  Type.Object(properties, { additionalProperties: false })

/** Permits `null` for an absent value. */
export function nullable<Schema extends TSchema>(schema: Schema) {
  const { type } = schema as { readonly type?: string }
  return Type.Unsafe<Static<Schema> | null>({ ...schema, type: [type, 'null'] })
}

/** Unix seconds. */
export const UnixSeconds = Type.Integer()

export const unixSeconds = (atMs: number): number => Math.floor(atMs / 1_000)

/** Whole Unix milliseconds; null where 0 says never. */
export const unixMsOrNull = (atMs: number): number | null => (atMs === 0 ? null : Math.floor(atMs))
