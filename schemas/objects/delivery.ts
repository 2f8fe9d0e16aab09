// A delivery: the waves in which pulling nodes get a new bundle, and the conditions that roll it
// back.
import { Type } from '#lib/schema/type.ts'
import type { Static } from '#lib/schema/type.ts'
import { choice } from '#schemas/forms/annotations.ts'
import { commitPattern } from '#lib/text/patterns.ts'

const wavesMax = 16

const Wave = Type.Object(
  {
    nodes: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 500,
        description:
          'Labels that a node has: `canary=true`, or several as `site=fra1,canary=true`.',
      }),
    ),
    percent: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 100,
        description: 'Share of all nodes, those of earlier waves counted in; rounded up.',
      }),
    ),
    shadow: Type.String({
      default: '0',
      maxLength: 20,
      description:
        'How long its nodes compute a share of their queries with the bundle, too, before they ' +
        'take it, such as `5m`; at most 7d. Answers meanwhile come from the bundle before.',
    }),
    hold: Type.String({
      default: '0',
      maxLength: 20,
      description:
        'From the moment that its nodes have the bundle to the next wave, such as `5m`; at most 7d.',
    }),
  },
  { additionalProperties: false, description: 'Nodes that get the bundle together.' },
)

const Decision = Type.Object(
  {
    commit: Type.String({
      pattern: commitPattern,
      description: 'The commit that made the change, or how its id begins.',
    }),
    decision: choice(['pause', 'promote', 'abort'], {
      description:
        '`pause` lets no wave begin, until the line is taken out; `promote` gives the change to ' +
        'all nodes; `abort` takes it back.',
    }),
  },
  { additionalProperties: false, description: 'What is to become of a change.' },
)

const share = (defaultValue: number, description: string) =>
  Type.Number({ minimum: 0, maximum: 100, default: defaultValue, description })

const Gates = Type.Object(
  {
    servfail: share(1, 'Percentage points by which the share of SERVFAIL may rise.'),
    noCandidate: share(
      5,
      'Percentage points by which the share of answers without a candidate may rise.',
    ),
    membersDown: share(20, 'Percentage points by which the share of members down may rise.'),
    p99: Type.Optional(
      Type.String({
        maxLength: 20,
        description:
          'Time in the program of 99 of 100 answers, such as `0.5ms`. Without it, and while ' +
          'nodes do not measure it: any.',
      }),
    ),
    changedAnswers: Type.Optional(
      Type.Number({
        minimum: 0,
        maximum: 100,
        description:
          'Percent of the queries that were computed with both bundles that may have another ' +
          'answer. Without it, and without `shadow`: any.',
      }),
    ),
    refusals: Type.Integer({
      minimum: 0,
      maximum: 10_000,
      default: 0,
      description: 'Nodes of a wave that may refuse the bundle.',
    }),
    silent: Type.Integer({
      minimum: 0,
      maximum: 10_000,
      default: 0,
      description: 'Nodes of a wave that may fall silent.',
    }),
    answersMin: Type.Integer({
      minimum: 1,
      maximum: 1_000_000_000,
      default: 100,
      description: 'Answers of a wave below which shares and times say nothing.',
    }),
  },
  {
    additionalProperties: false,
    default: {},
    description: 'What must hold, compared with the same nodes before they took the bundle.',
  },
)

export const DeliverySpec = Type.Object(
  {
    channel: choice(['main'], { default: 'main', description: 'What the nodes pull.' }),
    waves: Type.Array(Wave, {
      minItems: 1,
      maxItems: wavesMax,
      description: 'In their order. The last one is for 100 percent.',
    }),
    gates: Gates,
    decisions: Type.Array(Decision, {
      default: [],
      maxItems: 64,
      description: 'What was decided about changes that are on their way, by commit.',
    }),
    onFailure: choice(['return', 'hold'], {
      default: 'return',
      description:
        'What a gate that fails does: give all nodes the last good bundle again, or stop and ' +
        'wait for a person.',
    }),
  },
  {
    additionalProperties: false,
    description: 'In which waves nodes that pull bundles get a new one.',
  },
)
export type DeliverySpec = Static<typeof DeliverySpec>
