// /api/v1/zone-pushes: zones that are pushed to other servers, their plans, and what permits them.
import { Type } from '#lib/schema/type.ts'
import { whoFields } from '#access/caller.ts'
import { ZonePushPlan, pushStates } from '#ports/zone-pushes.ts'
import type { ShownPush } from '#ports/zone-pushes.ts'
import { missing, refused, success } from '#http/reply.ts'
import { routesOf } from '#api/route/route.ts'
import { closed, nullable, unixMsOrNull } from '#http/shapes.ts'

const route = routesOf({ tag: 'Zone pushes', withoutConfig: true, ofPlatform: true })

const Unix = (description: string) =>
  nullable(Type.Integer({ description: `${description}, Unix milliseconds; null: never` }))
const Count = (description: string) => Type.Integer({ description })

const Push = Type.Object(
  {
    name: Type.String(),
    type: Type.String({ description: 'rfc2136, route53 or cloudflare' }),
    zone: Type.String(),
    state: Type.Enum([...pushStates], {
      description:
        'waiting: nobody has looked yet; pending: a person has to apply it; held: it would ' +
        'delete more than its limit; conflict: sets of others are in the way; failing: see `error`',
    }),
    node: nullable(Type.String({ description: 'The node that pushes; null: none does' })),
    lookedAt: Unix('When the target was looked at last'),
    writtenAt: Unix('When something was written there last'),
    error: Type.String({ description: 'Why it fails; empty: it does not' }),
    plan: Type.String({ description: 'Digest of what is to be done; empty: nothing, or unknown' }),
    adds: Count('Records that are still to be written'),
    deletes: Count('Records that are still to be deleted'),
    ttlChanges: Count('Records that are there, and still to get another TTL'),
    deletesMax: Count('How many one push may delete without replacing them'),
    same: Count('Records there that are as they are wanted'),
    missing: Count('Records of ours that somebody had taken away at the last look'),
    foreign: Count('Records of others, which stay'),
    conflicts: Count(
      'Sets that cannot be written: others are in the way, or the target does not take them',
    ),
    skipped: Count('Sets that the target cannot have'),
    written: Count('Records that were written, changed and deleted there, since the first push'),
    notes: Type.Array(Type.String(), {
      description: 'On conflicts and what is skipped, at most 20',
    }),
  },
  { title: 'ZonePush' },
)

const list = route('GET /api/v1/zone-pushes', {
  needs: 'settings:read',
  summary: 'The zones that are pushed to other servers, and how each stands',
  details: 'Only for the tenant `default`. The targets are those of the settings of this node.',
  responses: { 200: { description: 'The targets', schema: Type.Array(Push) } },
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

function show({ lookedAtMs, writtenAtMs, notes, ...push }: ShownPush) {
  return {
    ...{ ...push, notes: [...notes] },
    ...{ lookedAt: unixMsOrNull(lookedAtMs), writtenAt: unixMsOrNull(writtenAtMs) },
  }
}

export const zonePushRoutes = Object.freeze([list, plan, apply])
