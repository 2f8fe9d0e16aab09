// Defines the port to changes that are delivered to nodes in waves, and their JSON.
import type { Result } from '#lib/result.ts'
import { Type } from '#lib/schema/type.ts'
import type { Shown } from '#lib/schema/type.ts'
import { nullable } from '#http/shapes.ts'

/** Equal to those of `fleet/delivery/state.ts`, which a test checks. */
export const shownPhases = ['done', 'rolling', 'paused', 'held', 'returned', 'aborted'] as const

const Place = Type.Object({
  seq: Type.Integer({ description: 'Of its channel record' }),
  digest: Type.String(),
  commit: Type.String(),
})

const Wave = Type.Object({
  nodes: nullable(Type.String({ description: 'Labels; null: it is a share' })),
  percent: nullable(Type.Integer({ description: 'Of all nodes, earlier waves counted in' })),
  holdSeconds: Type.Number(),
  hasBegun: Type.Boolean(),
  adopted: Type.Integer({ description: 'Nodes that answer from the target' }),
  waiting: Type.Integer({ description: 'Nodes that are to take it' }),
  refused: Type.Integer({ description: 'Nodes that refuse it, or have left it' }),
  silent: Type.Integer({ description: 'Nodes that were not heard for a minute' }),
  isShadow: Type.Boolean({
    description: 'Its nodes compute with the target and answer from the bundle before',
  }),
  shadow: nullable(
    Type.Object({
      compared: Type.Integer({ description: 'Queries that were computed with both bundles' }),
      changed: Type.Number({ description: 'Percent of them that have another answer' }),
    }),
  ),
})

export const Delivery = Type.Object(
  {
    channel: Type.String(),
    phase: Type.Enum([...shownPhases], {
      description:
        'done: all nodes are given `good`; rolling, paused, held: those of the waves that have ' +
        'begun are given `target`; returned, aborted: all are given `good` again',
    }),
    good: Place,
    target: nullable(Place),
    waves: Type.Array(Wave, { description: 'Empty: it went to all nodes at once' }),
    promised: Type.String({
      description:
        'What a plan says that the target moves, such as `moved=12.4%; names=3`: the largest ' +
        'share of clients at one name, and names with other answers. Empty: it is not known',
    }),
    onFailure: nullable(Type.String({ description: 'return or hold; null: no waves' })),
    phaseSince: Type.Integer({ description: 'Unix milliseconds' }),
    verdict: nullable(
      Type.Object({
        gate: Type.String({ description: 'Which gate did not hold' }),
        wave: Type.Integer({ description: 'From 1' }),
        value: Type.Number(),
        limit: Type.Number(),
        at: Type.Integer({ description: 'Unix milliseconds' }),
      }),
    ),
    waitsFor: Type.String({
      description: 'Empty: for nothing, or another control node decides',
    }),
    decidedBy: Type.String({ description: 'Name of the control node' }),
    fault: Type.String({ description: 'Why it stands still; empty: it does not' }),
  },
  { title: 'Delivery' },
)
export type Delivery = Shown<typeof Delivery>

/** The same with times as this program counts them: Unix epoch, with fractions. */
export interface ShownDelivery extends Omit<Delivery, 'phaseSince' | 'verdict'> {
  readonly phaseSinceMs: number
  readonly verdict:
    (Omit<NonNullable<Delivery['verdict']>, 'at'> & { readonly atMs: number }) | null
}
export type ShownWave = ShownDelivery['waves'][number]

/** Equal to those of `fleet/delivery/machine.ts`, which a test checks. */
export const shownActions = ['pause', 'resume', 'promote', 'abort'] as const
export type ShownAction = (typeof shownActions)[number]

export interface Deliveries {
  /** Lists the delivery of each channel that has one. */
  readonly list: () => readonly ShownDelivery[]
  /**
   * Acts on a delivery. `unknown`: the channel has none. `impossible`: not now, as the message
   * explains. `away`: the database cannot be used.
   */
  readonly act: (
    channel: string,
    action: ShownAction,
  ) => Promise<Result<ShownDelivery, { readonly code: ActionFault; readonly message: string }>>
}

type ActionFault = 'unknown' | 'impossible' | 'away'
