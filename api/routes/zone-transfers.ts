// /api/v1/zone-transfers: zones that come from other servers, and the override of what is held.
import { Type } from '#lib/schema/type.ts'
import { actorOf, whoFields } from '#access/caller.ts'
import { zoneTransferStates } from '#ports/node-facts.ts'
import type { ZoneTransfer } from '#ports/node-facts.ts'
import { dnsNameOf } from '#http/paging.ts'
import { missing, refused, success } from '#http/reply.ts'
import { routesOf } from '#api/route/route.ts'
import { closed, nullable, unixMsOrNull } from '#http/shapes.ts'

const route = routesOf({ tag: 'Cluster', withoutConfig: true, ofPlatform: true })

const Transfer = Type.Object(
  {
    zone: Type.String({ description: 'Lower case, with the final dot' }),
    primaries: Type.Array(Type.String(), { description: 'Addresses and ports, as they are asked' }),
    state: Type.Enum([...zoneTransferStates], {
      description:
        'failing: no primary server answers as it should, and what is here is answered; held: ' +
        'guardrails say that it changes too much; refused: it cannot be used; expired: its ' +
        'records are not answered any more',
    }),
    serial: nullable(Type.Integer({ description: 'Of what is here; null: nothing ever came' })),
    offered: nullable(Type.Integer({ description: 'Of what is held or refused; null: nothing' })),
    error: Type.String({ description: 'Why it is not current; empty: it is' }),
    contactAt: nullable(
      Type.Integer({ description: 'When a primary server was heard, Unix milliseconds' }),
    ),
    transfers: Type.Integer({ description: 'Since the start of this node' }),
    failures: Type.Integer({ description: 'Looks in vain, since the start of this node' }),
  },
  { title: 'ZoneTransfer' },
)

const list = route('GET /api/v1/zone-transfers', {
  needs: 'cluster:status',
  summary: 'Zones that come from other servers, as this node sees them',
  details: 'Only for the tenant `default`. Each control node follows the primary servers itself.',
  responses: { 200: { description: 'The zones', schema: Type.Array(Transfer) } },
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

function show({ primaries, contactAtMs, serial, offered, ...zone }: ZoneTransfer) {
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
