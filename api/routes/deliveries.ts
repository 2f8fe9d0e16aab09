// /api/v1/deliveries: progress of a change in the fleet, and an operator's actions on it.
import { Type } from '#lib/schema/type.ts'
import { missing, refused, success } from '#http/reply.ts'
import { routesOf } from '#api/route/route.ts'
import type { Route } from '#api/route/route.ts'
import { Delivery, shownActions } from '#ports/deliveries.ts'
import type { ShownAction, ShownDelivery } from '#ports/deliveries.ts'

const route = routesOf({ tag: 'Fleet', withoutConfig: true, ofPlatform: true })

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
