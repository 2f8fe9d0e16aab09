// /api/v1/zone-pushes: zones that are pushed to other servers, their plans, and what permits them.
import { Type } from '#lib/schema/type.ts'
import { whoFields } from '#access/caller.ts'
import { ZonePush, ZonePushPlan } from '#ports/zone-pushes.ts'
import type { ShownPush } from '#ports/zone-pushes.ts'
import { missing, refused, success } from '#http/reply.ts'
import { routesOf } from '#api/route/route.ts'
import { closed, unixMsOrNull } from '#http/shapes.ts'

const route = routesOf({ tag: 'Zone pushes', withoutConfig: true, ofPlatform: true })

const list = route('GET /api/v1/zone-pushes', {
  needs: 'settings:read',
  summary: 'The zones that are pushed to other servers, and how each stands',
  details: 'Only for the tenant `default`. The targets are those of the settings of this node.',
  responses: { 200: { description: 'The targets', schema: Type.Array(ZonePush) } },
  ports: ['zonePushes'],
  handle: ({ ports }) => success(ports.zonePushes.list().map(show)),
})

const plan = route('GET /api/v1/zone-pushes/{name}/plan', {
  needs: 'settings:read',
  summary: 'What a push would write now',
  details: 'Asks the target what it has; nothing is written.',
  responses: { 200: { description: 'The plan', schema: ZonePushPlan } },
  refusals: [502],
  ports: ['zonePushes'],
  handle: async ({ ports, params: { name } }) => {
    const planned = await ports.zonePushes.plan(name)
    if (planned === null) return missing('target')
    return planned.ok ? success(planned.value) : refused(502, planned.error)
  },
})

const apply = route('POST /api/v1/zone-pushes/{name}/apply', {
  needs: 'settings:write',
  summary: 'Have a zone pushed',
  details:
    'Only for system administrators. The node that pushes does so within seconds, and the list ' +
    'says how it went. With the digest of a plan, this very plan is carried out beyond its ' +
    'limit; where anything has changed since, nothing is.',
  body: closed({
    plan: Type.Optional(
      Type.String({
        pattern: '^[0-9a-f]{16}$',
        examples: ['0123456789abcdef'],
        description: 'Digest of a plan that may delete more than the limit',
      }),
    ),
    adopt: Type.Optional(
      Type.Boolean({ description: 'Records there that are as they are wanted become ours' }),
    ),
  }),
  responses: {
    202: { description: 'It is asked for', schema: Type.Object({ name: Type.String() }) },
  },
  refusals: [503],
  ports: ['zonePushes', 'log'],
  handle: async ({ ports, params: { name }, body, caller, requestId }) => {
    const { plan: permitted = '', adopt = false } = body
    const asked = await ports.zonePushes.ask(name, { plan: permitted, adopt })
    if (asked === null) return missing('target')
    if (!asked.ok) return refused(503, asked.error)
    const fields = { target: name, plan: permitted, adopt, requestId, ...whoFields(caller) }
    ports.log.info(fields, 'a person has a zone pushed')
    return { status: 202, body: { name } }
  },
})

function show({ lookedAtMs, writtenAtMs, ...push }: ShownPush) {
  return { ...push, lookedAt: unixMsOrNull(lookedAtMs), writtenAt: unixMsOrNull(writtenAtMs) }
}

export const zonePushRoutes = Object.freeze([list, plan, apply])
