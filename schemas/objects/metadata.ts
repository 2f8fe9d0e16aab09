// The metadata of an object: its name, and the uid that survives a rename.
import { Type } from '#lib/schema/type.ts'
import type { Static } from '#lib/schema/type.ts'
import { namePattern, uuidPattern } from '#lib/text/patterns.ts'

export const apiVersion = 'gslb/v1'

export const Uid = Type.String({
  pattern: uuidPattern,
  description:
    'UUID. Optional for people: without one it is derived from the name, so a rename makes a ' +
    'new object. The API always writes it.',
})

export const Metadata = Type.Object(
  {
    name: Type.String({
      minLength: 1,
      maxLength: 255,
      pattern: namePattern,
      description:
        'Name that references use. Pool and service names are unique across all tenants.',
    }),
    uid: Type.Optional(Uid),
    overlap: Type.Optional(
      Type.Boolean({
        description:
          'Whether its names may be at, above or below names of other tenants: what a system ' +
          'administrator has done over the API. Only objects of the tenant `default` may.',
      }),
    ),
  },
  { additionalProperties: false, description: 'Who the object is.' },
)
export type Metadata = Static<typeof Metadata>
