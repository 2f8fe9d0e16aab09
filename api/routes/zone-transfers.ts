// /api/v1/zone-transfers: zones that come from other servers, and the override of what is held.
import { Type } from '#lib/schema/type.ts'
import { actorOf, whoFields } from '#access/caller.ts'
import { ZoneTransfer } from '#ports/node-facts.ts'
import type { ShownTransfer } from '#ports/node-facts.ts'
import { dnsNameOf } from '#http/paging.ts'
import { missing, refused, success } from '#http/reply.ts'
import { routesOf } from '#api/route/route.ts'
import { closed, unixMsOrNull } from '#http/shapes.ts'

const route = routesOf({ tag: 'Cluster', withoutConfig: true, ofPlatform: true })

const list = route('GET /api/v1/zone-transfers', {
  needs: 'cluster:status',
  summary: 'Zones that come from other servers, as this node sees them',
  details: 'Only for the tenant `default`. Each control node follows the primary servers itself.',
  responses: { 200: { description: 'The zones', schema: Type.Array(ZoneTransfer) } },
  ports: ['zoneTransfers'],
  handle: ({ ports }) => success(ports.zoneTransfers.list().map(show)),
})

const accept = route('POST /api/v1/zone-transfers/{zone}/accept', {
  needs: 'settings:write',
  summary: 'Transfer a zone whole, and take it whatever its serial and the guardrails say',
  details:
    'Only for system administrators. For what is held, and for a primary server that has begun ' +
    'to count anew. The reason is kept in the commit.',
  body: closed({ reason: Type.String({ minLength: 1, maxLength: 200 }) }),
  responses: {
    200: {
      description: 'The zone is as its primary server has it',
      schema: Type.Object({ zone: Type.String(), serial: Type.Integer() }),
    },
  },
  refusals: [409],
  ports: ['zoneTransfers', 'log'],
  handle: async ({ ports, params, body: { reason }, caller, requestId }) => {
    const zone = dnsNameOf(params.zone)
    const accepted = await ports.zoneTransfers.accept(zone, `${reason} (${actorOf(caller)})`)
    if (accepted === undefined) return missing('zone with `from`')
    if (!accepted.ok) return refused(409, `${zone} is not taken: ${accepted.error}`)
    const who = whoFields(caller)
    ports.log.info({ zone, serial: accepted.value, requestId, ...who }, 'a person took a zone')
    return success({ zone, serial: accepted.value })
  },
})

function show({ primaries, contactAtMs, serial, offered, ...zone }: ShownTransfer) {
  return {
    ...zone,
    primaries: primaries.map(({ address, port }) =>
      address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`,
    ),
    serial: serial ?? null,
    offered: offered ?? null,
    contactAt: unixMsOrNull(contactAtMs),
  }
}

export const zoneTransferRoutes = Object.freeze([list, accept])
