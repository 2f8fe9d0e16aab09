// /api/v1/discovery/sources: what members are discovered by, and the override of what is held.
import { Type } from '#lib/schema/type.ts'
import { whoFields } from '#access/caller.ts'
import { DiscoverySource } from '#ports/node-facts.ts'
import type { ShownSource } from '#ports/node-facts.ts'
import { missing, success } from '#http/reply.ts'
import { routesOf } from '#api/route/route.ts'
import { unixMsOrNull } from '#http/shapes.ts'

const route = routesOf({ tag: 'Cluster', withoutConfig: true, ofPlatform: true })

const list = route('GET /api/v1/discovery/sources', {
  needs: 'cluster:status',
  summary: 'The sources that members are discovered by, as this node sees them',
  details: 'Only for the tenant `default`. Each node asks the sources of its own settings.',
  responses: { 200: { description: 'The sources', schema: Type.Array(DiscoverySource) } },
  ports: ['discovery'],
  handle: ({ ports }) => success(ports.discovery.sources().map(show)),
})

const accept = route('POST /api/v1/discovery/sources/{name}/accept', {
  needs: 'settings:write',
  summary: 'Let go the members that a source does not find any more, though they are many',
  details:
    'Only for system administrators, and for this node alone: the answer says how many are gone. ' +
    'It is once, and changes no limit: `discovery.maxRemoved` holds the next ones. Members that ' +
    'the source finds again come back.',
  responses: {
    200: {
      description: 'What is gone; 0: nothing was held',
      schema: Type.Object({ name: Type.String(), removed: Type.Integer() }),
    },
  },
  ports: ['discovery', 'log'],
  handle: ({ ports, params: { name }, caller, requestId }) => {
    if (!ports.discovery.sources().some((one) => one.name === name)) return missing('source')
    const removed = ports.discovery.accept(name)
    ports.log.info({ source: name, removed, requestId, ...whoFields(caller) }, accepted)
    return success({ name, removed })
  },
})

const accepted = 'a person let go the members that a source does not find any more'

function show({ foundAtMs, heldSinceMs, ...source }: ShownSource) {
  return { ...source, foundAt: unixMsOrNull(foundAtMs), heldSince: unixMsOrNull(heldSinceMs) }
}

export const discoveryRoutes = Object.freeze([list, accept])
