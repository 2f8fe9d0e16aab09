// A member: a backend server of a pool.
import { Type } from '#lib/schema/type.ts'
import type { Static } from '#lib/schema/type.ts'
import { choice } from '#schemas/forms/annotations.ts'
import { Uid } from './metadata.ts'
import { discoveredTextPattern, httpAddressPattern, textPattern } from '#lib/text/patterns.ts'

export const Member = Type.Object(
  {
    name: Type.String({
      maxLength: 255,
      pattern: textPattern,
      default: '',
      description: 'Label for people.',
    }),
    uid: Type.Optional(Uid),
    ipAddress: Type.String({
      maxLength: 45,
      default: '',
      description:
        'IPv4 or IPv6 address that is put into answers; not an IPv4-mapped one. A member has ' +
        'either this, or `hostname`, or `from`.',
    }),
    hostname: Type.String({
      maxLength: 255,
      default: '',
      description:
        'Host name in place of `ipAddress`: each node resolves it and answers its addresses, or, ' +
        'in a pool with `answer: cname`, answers an alias of it.',
    }),
    from: Type.String({
      maxLength: 200,
      pattern: discoveredTextPattern,
      default: '',
      description:
        'Source of `discovery` in the settings of nodes, in place of `ipAddress`: its addresses ' +
        'are found while the server runs, each a member of its own. As ' +
        'SOURCE[/NAME][?LABEL=VALUE[&…]], such as `consul/shop?region=eu`.',
    }),
    port: Type.Integer({
      minimum: 1,
      maximum: 65_535,
      description: 'Port on which the backend listens.',
    }),
    weight: Type.Integer({
      minimum: 0,
      maximum: 1_000_000,
      default: 1,
      description:
        'Share of the answers under weighted algorithms, 0: none. The others do not look at it.',
    }),
    priority: Type.Integer({
      minimum: 0,
      maximum: 1_000_000,
      default: 0,
      description: 'Order under failover: 1 is preferred to 2; 0 is unset and comes last.',
    }),
    enabled: Type.Boolean({ default: true, description: 'A disabled member is never answered.' }),
    region: Type.String({
      maxLength: 64,
      pattern: textPattern,
      default: 'unknown',
      description:
        'Country code (ISO 3166-1 alpha-2), a subdivision such as US-CA (ISO 3166-2), a ' +
        'continent such as continent:EU, continent:* for clients that no other member is for, or ' +
        'another label; compared exactly, with case. Quote it.',
    }),
    provider: Type.String({
      maxLength: 64,
      pattern: textPattern,
      default: '',
      description:
        'Whose machine it is, such as a cloud. `gslbd check` tells what happens when all members ' +
        'of a provider are down at once; answers do not depend on it.',
    }),
    site: Type.String({
      maxLength: 64,
      pattern: textPattern,
      default: '',
      description: 'Where the machine stands, such as a data centre; used like `provider`.',
    }),
    capacity: Type.Integer({
      minimum: 1,
      maximum: 100,
      default: 100,
      description:
        'How many percent of the clients of its pool the member bears. `gslbd check` tells when ' +
        'it may get more; answers do not depend on it.',
    }),
    warmupThreshold: Type.Integer({
      minimum: 0,
      maximum: 1_000,
      default: 0,
      description:
        'Probes in a row that must pass before a member that is new, or enabled again, is used; ' +
        '0 disables the gate.',
    }),
    rumUrl: Type.String({
      maxLength: 2_000,
      pattern: httpAddressPattern,
      default: '',
      description: 'Absolute http or https address that browsers load to measure the member.',
    }),
    externalSignalMode: choice(['and', 'or', 'override'], {
      description:
        'How health signals of outside monitors are combined with the probes. `and`: both must ' +
        'say healthy; `or`: one of them is enough; `override`: the signals alone decide while ' +
        'there are any.',
      default: 'and',
    }),
  },
  { additionalProperties: false, description: 'A backend server.' },
)
export type Member = Static<typeof Member>
