// Defines the JSON of the health of members over time.
import { Type } from '#lib/schema/type.ts'
import type { Static } from '#lib/schema/type.ts'
import { closed } from '#http/shapes.ts'
import type { HealthHistory as Found, HealthStretch } from '#ports/past.ts'

export const historyLimits = {
  hoursMax: 168,
  /** Members in one response. */
  membersMax: 100,
} as const

export const HealthHistoryQuery = closed({
  hours: Type.Optional(
    Type.Integer({
      ...{ minimum: 1, maximum: historyLimits.hoursMax, default: 24 },
      description: 'How far back, until now.',
    }),
  ),
  member: Type.Optional(
    Type.String({
      ...{ minLength: 1, maxLength: 100 },
      description: 'One member of the pool. Without it: the first 100, in the order of the file.',
    }),
  ),
  node: Type.Optional(
    Type.String({
      ...{ minLength: 1, maxLength: 253 },
      description: 'One node. Without it: this one, and others by name, eight at most.',
    }),
  ),
})
export type HealthHistoryQuery = Static<typeof HealthHistoryQuery>

const states = [
  ...['up', 'unprobed', 'down', 'warming', 'maintenance', 'unresolved', 'disabled'],
  ...['absent', 'unknown'],
] as const

const Stretch = Type.Object({
  from: Type.Integer({ description: 'Unix milliseconds' }),
  to: Type.Integer({ description: 'Unix milliseconds; not included' }),
  state: Type.Enum([...states], {
    description:
      'What the node answered by. `unprobed`: it was answered, and no check of the node looked ' +
      'at it. `absent`: the pool did not have it.',
  }),
  reason: Type.String({ description: 'What the state means, or why it is not known' }),
  changes: Type.Integer({
    description: 'How often it changed meanwhile, in stretches too short to be told apart; 0: not',
  }),
})

export const HealthHistory = Type.Object(
  {
    from: Type.Integer({ description: 'Unix milliseconds' }),
    to: Type.Integer({ description: 'Unix milliseconds' }),
    nodes: Type.Array(
      Type.Object({
        node: Type.String(),
        members: Type.Array(
          Type.Object({
            memberId: Type.String(),
            stretches: Type.Array(Stretch, {
              description: 'They fill the time, in order; at most 200',
            }),
          }),
        ),
      }),
      { description: 'This node, then those whose journals are in its database.' },
    ),
  },
  { title: 'HealthHistory' },
)

const meanings: Readonly<Record<string, string>> = {
  unprobed: 'no check of the node looked at it; what monitors of outside said is not kept',
  down: 'probes, or monitors of outside, found it down',
  warming: 'it had come back, and had not passed enough probes yet',
  maintenance: 'a maintenance window held it out',
  unresolved: 'its host name had no address',
  disabled: 'it was disabled',
  absent: 'the pool did not have it',
}

export function showHistory({ fromMs, toMs, nodes }: Found) {
  return {
    ...{ from: fromMs, to: toMs },
    nodes: nodes.map(({ node, members }) => ({
      node,
      members: members.map(({ member, stretches }) => ({
        memberId: member,
        stretches: stretches.map(showStretch),
      })),
    })),
  }
}

function showStretch({ fromMs, toMs, standing, reason, changes }: HealthStretch) {
  return {
    ...{ from: Math.floor(fromMs), to: Math.floor(toMs), state: standing },
    reason: reason === '' ? (meanings[standing] ?? '') : reason,
    changes,
  }
}
