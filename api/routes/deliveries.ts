// /api/v1/deliveries: progress of a change in the fleet, and an operator's actions on it.
import { Type } from '#lib/schema/type.ts'
import { missing, refused, success } from '#http/reply.ts'
import { routesOf } from '#api/route/route.ts'
import type { Route } from '#api/route/route.ts'
import { nullable } from '#http/shapes.ts'
import { shownActions, shownPhases } from '#ports/deliveries.ts'
import type { ShownAction, ShownDelivery } from '#ports/deliveries.ts'

const route = routesOf({ tag: 'Fleet', withoutConfig: true, ofPlatform: true })

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

const Delivery = Type.Object(
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

const list = route('GET /api/v1/deliveries', {
  needs: 'delivery:read',
  summary: 'How far the newest change has come in the fleet',
  details:
    'Only for the tenant `default`. One entry a channel; none before a `Delivery` was declared. ' +
    'Nodes are counted as the node that answers knows them.',
  responses: { 200: { description: 'The deliveries', schema: Type.Array(Delivery) } },
  ports: ['deliveries'],
  handle: ({ ports }) => success(ports.deliveries.list().map(show)),
})

const says: Readonly<Record<ShownAction, string>> = {
  pause: 'Hold a delivery: no wave begins until it is resumed; gates are looked at all the same',
  resume: 'Go on with a paused delivery, or begin anew with a stopped one',
  promote: 'Give the target to all nodes now, whatever the gates say',
  abort: 'Give all nodes the last good bundle again, under a new seq',
}

const faultStatus = { unknown: 404, impossible: 409, away: 503 } as const

const action = (name: ShownAction): Route =>
  route(`POST /api/v1/deliveries/{channel}/${name}`, {
    needs: 'delivery:write',
    summary: says[name],
    details: 'Only for system administrators. 409: it is not possible now, and why.',
    responses: { 200: { description: 'The delivery', schema: Delivery } },
    refusals: [409],
    ports: ['deliveries'],
    handle: async ({ ports, params: { channel } }) => {
      const acted = await ports.deliveries.act(channel, name)
      if (acted.ok) return success(show(acted.value))
      const { code, message } = acted.error
      return code === 'unknown' ? missing('delivery') : refused(faultStatus[code], message)
    },
  })

function show({ phaseSinceMs, verdict, ...delivery }: ShownDelivery) {
  return {
    ...delivery,
    phaseSince: Math.floor(phaseSinceMs),
    verdict: verdict === null ? null : { ...verdict, at: Math.floor(verdict.atMs) },
  }
}

export const deliveryRoutes = Object.freeze([list, ...shownActions.map((name) => action(name))])
