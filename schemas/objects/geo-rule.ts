// A geo rule of a pool: clients of one network prefer one member.
import { Type } from '#lib/schema/type.ts'
import type { Static } from '#lib/schema/type.ts'
import { Uid } from './metadata.ts'

/** Git has the history; these fields save readers a look there. */
const unixSeconds = (when: string) =>
  Type.Integer({
    minimum: 0,
    maximum: 8_640_000_000_000,
    description: `${when}, Unix seconds. People leave it out.`,
  })

export const GeoRule = Type.Object(
  {
    cidr: Type.String({
      minLength: 1,
      description: 'IPv4 or IPv6 network of clients, such as 192.0.2.0/24; other bits are zero.',
    }),
    endpoint: Type.String({ minLength: 1, description: 'IP address of a member of this pool.' }),
    priority: Type.Integer({
      minimum: 0,
      maximum: 1_000_000,
      default: 100,
      description: 'Among equal prefix lengths the lower value wins.',
    }),
    uid: Type.Optional(Uid),
    createdAt: Type.Optional(unixSeconds('When the API made the rule')),
    updatedAt: Type.Optional(unixSeconds('When the API last changed the rule')),
  },
  { additionalProperties: false, description: 'Sends the clients of one network to one member.' },
)
export type GeoRule = Static<typeof GeoRule>
