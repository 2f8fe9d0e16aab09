// A rollout: a timed ramp of one member's weight.
import { Type } from '#lib/schema/type.ts'
import type { Static } from '#lib/schema/type.ts'
import { choice } from '#schemas/forms/annotations.ts'
import { Instant } from '#schemas/forms/instant.ts'
import { Uid } from './metadata.ts'

const stepsPerRolloutMax = 64
const intentsPerRolloutMax = 64
export const reasonLengthMax = 300

export const RolloutStep = Type.Object(
  {
    weightPct: Type.Integer({
      minimum: 0,
      maximum: 100,
      description: 'Weight in percent of `baseWeight`; 0: no share under weighted algorithms.',
    }),
    holdSeconds: Type.Integer({
      minimum: 0,
      maximum: 2_147_483_647,
      description: 'How long the step lasts; 0: until somebody promotes the rollout.',
    }),
  },
  { additionalProperties: false, description: 'A weight and how long it is held.' },
)

/** Zero switches a signal off; a signal that was not measured never trips. */
export const RegressionPolicy = Type.Object(
  {
    minHealthScore: Type.Number({
      minimum: 0,
      maximum: 1,
      default: 0,
      description: "Roll back when the member's own score falls below it; 0: never.",
    }),
    minHealthyMembers: Type.Integer({
      minimum: 0,
      maximum: 4_096,
      default: 0,
      description: 'Roll back when fewer members of the pool are healthy; 0: never.',
    }),
    maxRttDeltaMs: Type.Number({
      minimum: 0,
      maximum: 600_000,
      default: 0,
      description:
        "Roll back when the member's round trip takes longer by more than this than it did when " +
        'the rollout began; 0: never.',
    }),
  },
  { additionalProperties: false, description: 'When the ramp is taken back by itself.' },
)

const RolloutIntent = Type.Object(
  {
    intent: choice(['pause', 'promote', 'abort'], {
      description:
        '`pause` holds the weight; `promote` jumps to the last step; `abort` restores the weight ' +
        'from before.',
    }),
    at: Instant('When it holds from.'),
  },
  { additionalProperties: false, description: 'What somebody has decided about the rollout.' },
)

export const RolloutSpec = Type.Object(
  {
    pool: Type.String({ minLength: 1, description: 'Name of a pool of the same tenant.' }),
    member: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 255,
        description: 'Name, address or uid of a member.',
      }),
    ),
    memberId: Type.Optional(Uid),
    startAt: Instant('When the first step begins.'),
    baseWeight: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 1_000_000,
        description:
          'Weight from before the rollout, of which the steps are percentages. The API always ' +
          "writes it; without it: the member's weight in the pool.",
      }),
    ),
    steps: Type.Array(RolloutStep, {
      minItems: 1,
      maxItems: stepsPerRolloutMax,
      description: 'In the order of time.',
    }),
    regressionPolicy: Type.Optional(RegressionPolicy),
    intents: Type.Array(RolloutIntent, {
      maxItems: intentsPerRolloutMax,
      default: [],
      description: 'In the order of time.',
    }),
    settled: Type.Optional(
      choice(['promoted', 'rolled_back'], {
        description:
          'The rollout is over, the pool says the weight again, and this file is only a record.',
      }),
    ),
    settledAt: Type.Optional(Instant('When it was over. gslbd writes it.')),
    reason: Type.Optional(
      Type.String({
        maxLength: reasonLengthMax,
        description: 'Why it is over, as gslbd found it.',
      }),
    ),
  },
  { additionalProperties: false, description: "A timed ramp of one member's weight." },
)
export type RolloutSpec = Static<typeof RolloutSpec>
