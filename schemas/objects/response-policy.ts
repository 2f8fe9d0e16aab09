// A response policy (DNS firewall): rules that replace the answers of names.
import { Type } from '#lib/schema/type.ts'
import type { Static } from '#lib/schema/type.ts'
import { choice } from '#schemas/forms/annotations.ts'
import { Uid } from './metadata.ts'
import { namePattern } from '#lib/text/patterns.ts'

/** About what fits into a file of 1 MiB; longer lists are several files with one `source`. */
export const rulesPerPolicyMax = 20_000

const nameText = { minLength: 1, maxLength: 1_100 } as const

export const ResponseRule = Type.Object(
  {
    triggerType: choice(['exact', 'domain'], {
      description: '`exact`: only this name. `domain`: this name and all names below it.',
    }),
    triggerValue: Type.String({
      ...nameText,
      description: 'The name. Case and a trailing dot make no difference; no wildcards.',
    }),
    action: choice(['nxdomain', 'passthru', 'cname'], {
      description:
        '`nxdomain`: there is no such name. `cname`: it is an alias of `actionTarget`. ' +
        '`passthru`: answered as if no rule matched.',
    }),
    actionTarget: Type.String({
      maxLength: nameText.maxLength,
      default: '',
      description: 'Target of `cname`; the other actions have none.',
    }),
    signed: Type.Boolean({
      default: false,
      description:
        'In a signed zone of this server, the answer is signed as the zone is: resolvers that ' +
        'validate take it. `passthru` has no answer of its own.',
    }),
    uid: Type.Optional(Uid),
  },
  { additionalProperties: false, description: 'Another answer for one name, or for a domain.' },
)
export type ResponseRule = Static<typeof ResponseRule>

export const ResponsePolicySpec = Type.Object(
  {
    source: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 255,
        pattern: namePattern,
        description: 'Label of where the rules come from. Without it: `metadata.name`.',
      }),
    ),
    rules: Type.Array(ResponseRule, {
      maxItems: rulesPerPolicyMax,
      default: [],
      description:
        'An exact rule goes before every domain rule; of those the deepest one wins. The order ' +
        'does not matter.',
    }),
  },
  {
    additionalProperties: false,
    description: 'Rules that are looked at before everything else when a query is answered.',
  },
)
export type ResponsePolicySpec = Static<typeof ResponsePolicySpec>
