// A domain that its owner has delegated to this server.
import { Type } from '#lib/schema/type.ts'
import type { Static } from '#lib/schema/type.ts'

export const DelegatedDomainSpec = Type.Object(
  {
    domain: Type.String({
      minLength: 1,
      maxLength: 1_100,
      description:
        'The domain; registered by one tenant only. Case and a trailing dot make no difference.',
    }),
    createdAt: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: Number.MAX_SAFE_INTEGER,
        description: 'Unix seconds; written by the API.',
      }),
    ),
  },
  {
    additionalProperties: false,
    description:
      'A domain whose NS and DS records are checked. The results are no part of the configuration.',
  },
)
export type DelegatedDomainSpec = Static<typeof DelegatedDomainSpec>
