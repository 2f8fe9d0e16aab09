// A tenant, the owner of pools and services; its id is the name of its folder.
import { Type } from '#lib/schema/type.ts'
import type { Static } from '#lib/schema/type.ts'
import { namePattern } from '#lib/text/patterns.ts'

/** The tenant that every repository has, with or without a folder. */
export const defaultTenant = 'default'
/** Names with another meaning in logs and roles. */
export const reservedTenants: readonly string[] = Object.freeze(['system', 'all'])

export const TenantSpec = Type.Object(
  {
    displayName: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 255,
        pattern: namePattern,
        description: "Name for people, unique; without it the tenant's id.",
      }),
    ),
    rpsLimit: Type.Integer({
      minimum: 0,
      maximum: 2_147_483_647,
      default: 1_000,
      description: 'Stored for clients of the API; no limiter uses it.',
    }),
    createdAt: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: Number.MAX_SAFE_INTEGER,
        description: 'Unix seconds; written by the API.',
      }),
    ),
  },
  { additionalProperties: false, description: 'An owner of pools and services.' },
)
export type TenantSpec = Static<typeof TenantSpec>
