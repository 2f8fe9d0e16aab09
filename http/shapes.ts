// Small schemas that many routes share.
import { Type } from '#lib/schema/type.ts'
import type { Static, TSchema } from '#lib/schema/type.ts'

export const json = 'application/json; charset=utf-8'

export const ErrorBody = Type.Object({ error: Type.String() }, { $id: 'Error' })

/** A configuration in Git that is not accepted: nothing is written on top of it. */
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

/** An object in which unknown fields are refused: the form of every body. */
export const body = <Properties extends Record<string, TSchema>>(properties: Properties) =>
  Type.Object(properties, { additionalProperties: false })

/** `null` in the place of a value that is not there. */
export function nullable<Schema extends TSchema>(schema: Schema) {
  const { type } = schema as { readonly type?: string }
  return Type.Unsafe<Static<Schema> | null>({ ...schema, type: [type, 'null'] })
}

export const Id = Type.Object({ id: Type.String({ minLength: 1, maxLength: 255 }) })
/** Unix seconds. */
export const UnixSeconds = Type.Integer()
