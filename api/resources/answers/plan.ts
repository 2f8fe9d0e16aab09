// Defines the JSON of a plan: proposed writes, and the clients that would get another answer.
import { Type } from '#lib/schema/type.ts'
import type { Static } from '#lib/schema/type.ts'
import { closed, nullable } from '#http/shapes.ts'

export const requestsMax = 20
const instantsMax = 8
const listedMax = 1_000

export const PlannedRequest = closed({
  method: Type.Enum(['POST', 'PUT', 'PATCH', 'DELETE']),
  path: Type.String({
    minLength: 1,
    maxLength: 1_000,
    description:
      'Of a route that takes `?dryRun=true`, without a query. `$0` in the place of an id is what ' +
      'the first request would make, `$1` the second.',
    examples: ['/api/v1/pools/0197…/members'],
  }),
  body: Type.Optional(
    Type.Unknown({ description: 'As the route takes it; `$0` may be the value of a field.' }),
  ),
  ifMatch: Type.Optional(
    Type.String({ maxLength: 1_000, description: 'What the header If-Match would be.' }),
  ),
})

export const NewPlan = closed({
  requests: Type.Array(PlannedRequest, {
    minItems: 1,
    maxItems: requestsMax,
    description: 'Writes, each tried on top of those before it. None is made.',
  }),
  at: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 64 }), {
      minItems: 1,
      maxItems: instantsMax,
      description: 'Instants, such as 2026-01-31T12:00:00Z. Without it: now.',
    }),
  ),
  health: Type.Optional(
    Type.Enum(['all-up', 'now'], {
      default: 'all-up',
      description: '`now`: also under the health that this node sees.',
    }),
  ),
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: listedMax,
      default: 100,
      description: 'Answers that are listed of each scenario, at most: those that move most.',
    }),
  ),
})
export type NewPlan = Static<typeof NewPlan>

const Side = Type.Object({
  source: Type.String(),
  commit: Type.String({ description: 'Empty: none' }),
  digest: Type.String({ description: 'Of the bundle' }),
})

const Endpoint = {
  member: Type.String({
    description:
      'Address or host name; else records, or such as NXDOMAIN; empty: of a flow, all of the pool',
  }),
  pool: Type.String({ description: 'Empty: none, or of another tenant' }),
  region: Type.String(),
}

const PlaceMovement = Type.Object({
  place: Type.String({ description: 'Empty: in no database' }),
  moved: Type.Number({ description: 'Part of all clients' }),
  movedOfPlace: Type.Number({ description: 'Part of the clients of the place' }),
})
const Places = nullable(Type.Array(PlaceMovement))

const FamilyMovement = Type.Object({
  moved: Type.Number({ description: 'Part of the clients that go elsewhere, 0 to 1' }),
  differs: Type.Number({ description: 'Part of the clients that get another answer' }),
  error: Type.Number({
    description:
      '`moved` is right within this, in 19 of 20 plans; errors of counted traffic are not included',
  }),
  flows: Type.Array(
    Type.Object({
      from: Type.Object(Endpoint),
      to: Type.Object(Endpoint),
      share: Type.Number(),
    }),
  ),
  members: Type.Array(Type.Object({ ...Endpoint, before: Type.Number(), after: Type.Number() })),
  countries: Places,
  countriesOmitted: Type.Integer({
    description:
      'Further ones, of which fewer clients move; beyond the first movements all of them',
  }),
  operators: Places,
  operatorsOmitted: Type.Integer(),
})

const Answer = Type.Object({
  rcode: Type.String(),
  ttlSeconds: nullable(Type.Integer()),
  policy: Type.String({ description: 'How a service chooses; empty: none answers' }),
  records: Type.Array(Type.String()),
  others: Type.Array(Type.String(), { description: 'Delegation, addresses beside the answer' }),
})

const Change = Type.Object({
  name: Type.String(),
  type: Type.String(),
  kind: Type.Enum(['added', 'removed', 'changed']),
  tenant: Type.String({ description: 'Empty: records of a zone, or of another tenant' }),
  before: Answer,
  after: Answer,
  movement: nullable(Type.Object({ ipv4: FamilyMovement, ipv6: FamilyMovement })),
})

const Traffic = Type.Object({
  unit: Type.Enum(['share', 'queries', 'queries-per-second']),
  members: Type.Array(Type.Object({ ...Endpoint, before: Type.Number(), after: Type.Number() })),
})

const Weights = Type.Object({
  by: Type.Enum(['addresses', 'traffic'], { description: 'How clients are weighted' }),
  source: Type.String({ description: 'Of the counts; empty: addresses' }),
  seconds: nullable(Type.Number({ description: 'How long was counted' })),
  sampled: nullable(
    Type.Number({ description: 'Queries, or reports of browsers, that were looked at; null: all' }),
  ),
})

const CountryMovement = Type.Object({
  place: Type.String({ description: 'Empty: in no database' }),
  movedOfPlace: Type.Number({
    description: 'The largest part of its clients that moves at a name',
  }),
  name: Type.String({ description: 'At which name' }),
})

const Scenario = Type.Object({
  at: Type.String({ description: 'ISO 8601, UTC' }),
  health: Type.Enum(['all-up', 'given'], { description: '`given`: as this node sees it' }),
  traffic: Traffic,
  countries: nullable(
    Type.Array(CountryMovement, { description: 'Those of whose clients some move' }),
  ),
  changes: Type.Array(Change),
  omitted: Type.Integer({ description: 'Answers that differ and are not listed' }),
})

const Summary = Type.Object({
  names: Type.Integer({ description: 'Names that would answer differently' }),
  answers: Type.Integer({ description: 'The same by name and type' }),
  addedNames: Type.Integer(),
  removedNames: Type.Integer(),
  removedAnswers: Type.Integer({ description: 'The same by name and type' }),
  comparedNames: Type.Integer(),
  movedMax: Type.Number({
    description:
      'The largest part of the clients of a name that moves from an address to another answer',
  }),
  movedMaxName: Type.String(),
  movedMaxError: Type.Number({
    description:
      '`movedMax` is right within this, in 19 of 20 plans; errors of counted traffic are not included',
  }),
  laterChanges: Type.Integer(),
})

const LaterChange = Type.Object({
  kind: Type.Enum(['health-check', 'pool', 'service', 'overlay', 'settings', 'redirects']),
  subject: Type.String(),
  tenant: Type.String(),
  what: Type.String(),
  names: Type.Array(Type.String()),
  nameCount: Type.Integer(),
})

const Diagnostic = Type.Object({
  code: Type.String({ description: 'GET /api/v1/explain/{code}' }),
  message: Type.String(),
  help: Type.String(),
  field: Type.String(),
  file: Type.String(),
  line: Type.Integer(),
})

const File = Type.Object({
  path: Type.String(),
  text: nullable(Type.String({ description: 'null: the file goes' })),
})

export const Plan = Type.Object(
  {
    format: Type.Literal(1, {
      description: 'Another number when a field goes or means another thing',
    }),
    base: Side,
    head: Side,
    weights: Weights,
    summary: Summary,
    scenarios: Type.Array(Scenario, { description: 'One for each instant, under each health' }),
    later: Type.Array(LaterChange, { description: 'What no answer shows at once, or not all of' }),
    warnings: Type.Array(Type.String(), { description: 'What the plan could not know' }),
    guardrail: nullable(
      Type.String({
        description:
          'What `guardrails.movedClients` would refuse, were the requests one: a sentence',
      }),
    ),
    files: Type.Array(File, { description: 'What a commit of the requests would write' }),
    diagnostics: Type.Array(Diagnostic, { description: 'Warnings that the change would cause' }),
  },
  { title: 'Plan' },
)
