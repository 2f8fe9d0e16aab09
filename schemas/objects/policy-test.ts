// A policy test: the answers that clients must get in a given situation; a commit that fails one is
// held.
import { Type } from '#lib/schema/type.ts'
import type { Static } from '#lib/schema/type.ts'
import { choice } from '#schemas/forms/annotations.ts'
import { Instant } from '#schemas/forms/instant.ts'
import { textPattern } from '#lib/text/patterns.ts'
import { Location } from './routing-settings.ts'

const casesPerTestMax = 1_000
export const samplesDefault = 1_000
const samplesMax = 100_000
const membersMax = 1_000

/** Names as `dig` prints them. */
const testedRcodes = ['NOERROR', 'NXDOMAIN', 'REFUSED', 'SERVFAIL'] as const

const Member = Type.String({
  minLength: 1,
  maxLength: 255,
  description: 'Address of a member, or the name of its host where it is an alias.',
})

const memberList = (description: string) =>
  Type.Optional(Type.Array(Member, { minItems: 1, maxItems: membersMax, description }))

export const Given = Type.Object(
  {
    name: Type.Optional(
      Type.String({ minLength: 1, maxLength: 1_100, description: 'The name that is asked for.' }),
    ),
    type: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 32,
        description: 'The type that is asked for. Without it: `A`.',
      }),
    ),
    client: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 45,
        description: 'Address that the query comes from. Without it: 0.0.0.0.',
      }),
    ),
    subnet: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 49,
        description: 'Client subnet in the query (ECS): an address, or such as 192.0.2.0/24.',
      }),
    ),
    country: Type.Optional(
      Type.String({
        minLength: 2,
        maxLength: 6,
        description:
          'What the geo database says of the client: a country such as `DE`, or a subdivision ' +
          'such as `US-CA`. No database is needed.',
      }),
    ),
    location: Type.Optional(Location),
    asn: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 4_294_967_295,
        description: "Number of the client's network operator.",
      }),
    ),
    operator: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 255,
        pattern: textPattern,
        description: "Name of the client's network operator.",
      }),
    ),
    at: Type.Optional(
      Instant('When it is asked. Without it no rollout and no maintenance window has begun.'),
    ),
    down: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 600 }), {
        maxItems: membersMax,
        description:
          'Members that are down: `POOL/ADDRESS`, `TENANT/POOL/ADDRESS`, or `POOL/*` for all of ' +
          'a pool. All others are up.',
      }),
    ),
    seed: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 4_294_967_295,
        description: 'Starts the random numbers: the same seed gives the same answers. Default 1.',
      }),
    ),
    samples: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: samplesMax,
        description: `Answers of which shares are counted. Without it: ${samplesDefault}.`,
      }),
    ),
  },
  { additionalProperties: false, description: 'The situation: who asks for what, and when.' },
)
export type Given = Static<typeof Given>

const Share = Type.Object(
  {
    member: Member,
    percent: Type.Number({
      minimum: 0,
      maximum: 100,
      description: 'Per cent of the answers in which it stands first.',
    }),
    tolerance: Type.Number({
      minimum: 0,
      maximum: 100,
      default: 5,
      description: 'How many per cent more or less are right, too.',
    }),
  },
  { additionalProperties: false, description: 'How often a member is the answer.' },
)

export const Expected = Type.Object(
  {
    members: memberList(
      'Exactly the members that answers may hold, whatever turn and dice say; in any order.',
    ),
    oneOf: memberList('Answers hold some of these, and nothing else.'),
    share: Type.Optional(
      Type.Array(Share, { minItems: 1, maxItems: 100, description: 'Shares of members.' }),
    ),
    rcode: Type.Optional(choice(testedRcodes, { description: 'The response code.' })),
    ttl: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 2_147_483_647,
        description: 'TTL of every record of the answer, in seconds.',
      }),
    ),
    scopeAtMost: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 128,
        description: 'Most leading bits of the client subnet that the answer may be valid for.',
      }),
    ),
    records: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 70_000 }), {
        maxItems: 1_000,
        description:
          'Exactly the records of the answer, in any order, as zone files have them: ' +
          '`www.example.com. 60 IN A 192.0.2.1`. An empty list: there are none.',
      }),
    ),
  },
  { additionalProperties: false, description: 'What has to be answered.' },
)
export type Expected = Static<typeof Expected>

const TestCase = Type.Object(
  {
    name: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 255,
        pattern: textPattern,
        description: 'What the case says. Without it: its number.',
      }),
    ),
    given: Type.Optional(Given),
    expect: Type.Optional(Expected),
  },
  { additionalProperties: false, description: 'A row: a situation, and what has to be answered.' },
)
type TestCase = Static<typeof TestCase>

export const TestSpec = Type.Object(
  {
    given: Type.Optional(Given),
    expect: Type.Optional(Expected),
    cases: Type.Array(TestCase, {
      minItems: 1,
      maxItems: casesPerTestMax,
      description:
        'What a case says of a field goes before what `given` and `expect` of the file say.',
    }),
  },
  { additionalProperties: false, description: 'Questions, and what has to be answered to them.' },
)
export type TestSpec = Static<typeof TestSpec>
