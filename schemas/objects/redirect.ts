// An HTTP redirect by host name.
import { Type } from '#lib/schema/type.ts'
import type { Static } from '#lib/schema/type.ts'

export const redirectCodes = [301, 302, 307, 308] as const
export const redirectCodeDefault = 301
/** Two years, in seconds. */
const hstsMaxAgeMax = 63_072_000

export const RedirectSpec = Type.Object(
  {
    sourceFqdn: Type.String({
      minLength: 1,
      maxLength: 1_100,
      description:
        'Host name that is redirected; unique across all tenants. Case and a trailing dot make ' +
        'no difference. `*.old.example` stands for all names below old.example that no other ' +
        'redirect names; the deepest one wins.',
    }),
    targetUrl: Type.String({
      minLength: 1,
      maxLength: 2_048,
      description:
        'Absolute http or https address, without white space, control characters and any of ' +
        '`;`, `{`, `}`, `#`, `"`, `\'`, `\\`.',
    }),
    code: Type.Integer({
      minimum: 0,
      maximum: 999,
      default: redirectCodeDefault,
      description: 'Status: 301, 302, 307 or 308. The compiler warns of any other: 301 is sent.',
    }),
    preservePath: Type.Boolean({
      default: true,
      description: 'Append path and query of the request to `targetUrl`.',
    }),
    hstsMaxAge: Type.Integer({
      minimum: 0,
      maximum: hstsMaxAgeMax,
      default: 0,
      description:
        'Seconds for which browsers are told to use https alone (RFC 6797), in answers over ' +
        'https. 0: they are told nothing.',
    }),
    hstsIncludeSubDomains: Type.Boolean({
      default: false,
      description: 'Whether that holds for all names below the host, too.',
    }),
    createdAt: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: Number.MAX_SAFE_INTEGER,
        description: 'Unix seconds; written by the API.',
      }),
    ),
  },
  { additionalProperties: false, description: 'Sends the browsers of one host elsewhere.' },
)
export type RedirectSpec = Static<typeof RedirectSpec>
