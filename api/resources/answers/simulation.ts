// Defines the JSON of a simulated query: the question, the answer, and each step that led to it.
import { Type } from '#lib/schema/type.ts'
import type { Static } from '#lib/schema/type.ts'
import { closed, nullable } from '#http/shapes.ts'

export const text = (maxLength: number, description: string, more: object = {}) =>
  Type.String({ minLength: 1, maxLength, description, ...more })

const AssumedHealth = closed({
  healthy: Type.Optional(Type.Boolean()),
  score: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
  rttMs: Type.Optional(Type.Number({ minimum: 0, maximum: 60_000 })),
})

/** Members whose health may be assumed in one query. */
const healthMax = 1_000

export const Question = closed({
  name: text(1_100, 'The name that is asked for.', { examples: ['www.example.com.'] }),
  type: Type.Optional(text(20, 'A, AAAA, SOA … or TYPE65.', { default: 'A' })),
  client: Type.Optional(text(64, 'Address of who asks: a resolver, or a client itself.')),
  subnet: Type.Optional(
    text(64, 'Network that the resolver says its client is in (RFC 7871): 192.0.2.0/24.'),
  ),
  at: Type.Optional(text(64, 'When, such as 2026-01-31T12:00:00Z. Without it: now.')),
  health: Type.Optional(
    Type.Record(Type.String(), Type.Union([Type.Boolean(), AssumedHealth]), {
      maxProperties: healthMax,
      description:
        'Members that are taken to be otherwise than they are: POOL/ADDRESS or ' +
        'TENANT/POOL/ADDRESS, with true, false, or {healthy, score, rttMs}.',
    }),
  ),
  node: Type.Optional(
    text(
      255,
      'Members are taken to be as the probes of this node find them. Without it: this one.',
    ),
  ),
  commit: Type.Optional(
    Type.String({
      pattern: '^[0-9a-f]{40}$',
      'x-form': 'is no commit: write 40 hexadecimal digits, as GET /api/v1/history has them',
      description:
        'The configuration of this commit answers, with the health of now; of those in the ' +
        'history. Without it: the one that answers now.',
    }),
  ),
  seed: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 0xffffffff,
      default: 1,
      description: 'Of the dice: the same seed gives the same answer.',
    }),
  ),
})
export type Question = Static<typeof Question>

const Addresses = Type.Array(Type.String())

const Step = Type.Object({
  name: Type.String({ description: 'The algorithm, or the filter of the chain' }),
  before: Addresses,
  after: Addresses,
  reason: Type.String({ description: 'What it did, or why it did nothing' }),
  scopeBits: Type.Integer({ description: "Bits of the client's address that were needed so far" }),
})

const Member = Type.Object({
  name: Type.String(),
  ipAddress: Type.String(),
  region: Type.String(),
  weight: Type.Integer({ description: 'In effect' }),
  priority: Type.Integer(),
  score: Type.Number(),
  rttMs: Type.Number({ description: '0: not measured' }),
  standing: Type.Enum([
    ...(['candidate', 'disabled', 'unhealthy', 'warming', 'maintenance'] as const),
    ...(['weight-0', 'below-min-healthy'] as const),
  ]),
})

const Service = Type.Object({
  name: Type.String(),
  tenantId: Type.String(),
  algorithm: Type.String({ description: 'Or the steps of the chain' }),
  ttl: Type.Integer(),
  pool: nullable(Type.String()),
  fallback: nullable(
    Type.String({ description: 'The pool that answers in its place, which has no candidate' }),
  ),
  members: Type.Array(Member, { description: 'Of the family that is asked for' }),
  candidates: Addresses,
  geoRule: nullable(Type.String({ description: 'Member that a geo rule sends the client to' })),
  steps: Type.Array(Step),
  picks: Type.Array(Type.String(), { description: 'The addresses of the answer, in its order' }),
})

const Rule = Type.Object({
  triggerType: Type.String(),
  triggerValue: Type.String(),
  action: Type.String(),
  actionTarget: Type.String(),
  source: Type.String(),
})

const Signing = Type.Object({
  zone: Type.String({ description: 'Its keys sign' }),
  algorithm: Type.String(),
  proof: Type.Enum(
    [
      ...['records', 'alias', 'no-such-name', 'no-data', 'delegation'],
      ...['nothing', 'nothing-at-cut', 'unknown'],
    ],
    {
      description:
        'What a resolver that validates is proved. `alias`: no more than that, since it leads to ' +
        'another zone; `no-such-name`: by NOERROR and the type NXNAME; `nothing`: a response ' +
        'rule answers without signatures, which gives SERVFAIL; `nothing-at-cut`: and would ' +
        'not with `signed: true`; `unknown`: the answer is made of keys',
    },
  ),
})

const Overlay = Type.Object({
  kind: Type.String(),
  name: Type.String(),
  pool: Type.String(),
  state: Type.String(),
  effect: Type.String(),
})

export const Simulation = Type.Object(
  {
    name: Type.String(),
    type: Type.String(),
    at: Type.String({ description: 'ISO 8601, UTC' }),
    seed: Type.Integer(),
    node: Type.String({ description: 'Whose probes say how members are' }),
    commit: Type.String({ description: 'The configuration that answers' }),
    digest: Type.String({ description: 'Of its bundle' }),
    rcode: Type.String(),
    rule: nullable(Rule),
    zone: nullable(Type.String({ description: 'null: none of ours' })),
    match: Type.Enum(['exact', 'wildcard', 'none']),
    owner: nullable(Type.String({ description: 'The name that answers; of a wildcard, that' })),
    absent: nullable(
      Type.String({
        description: 'Zone from elsewhere that has not come or has expired: hence SERVFAIL',
      }),
    ),
    records: Type.Array(Type.String(), { description: 'The answer, as zone files write it' }),
    scope: nullable(
      Type.Integer({ description: 'Of the answer to a subnet; null: none was sent' }),
    ),
    signing: nullable(Signing),
    service: nullable(Service),
    overlays: Type.Array(Overlay, { description: 'Rollouts and windows of its pool at that time' }),
  },
  { title: 'Simulation' },
)
