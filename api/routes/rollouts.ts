// /api/v1/rollouts: timed ramps of one member's weight.
import { Type } from 'typebox'
import type { ConfigEntry } from '#config/entry.ts'
import { uuidV7 } from '#lib/uuid.ts'
import { findObject, findPart, listObjects, targetOf } from '#api/config/reads.ts'
import { tagged, write, writeRefusals } from '#api/config/writes.ts'
import { preconditionOf } from '#api/route/if-match.ts'
import { NamedPaging, pageByName } from '#http/paging.ts'
import { created, invalid, missing, refused, success } from '#http/reply.ts'
import { NewRollout, Rollout, showRollout } from '../resources/rollout.ts'
import { route } from '#api/route/route.ts'
import type { Route, RouteContext } from '#api/route/route.ts'
import { Id } from '#http/shapes.ts'

const tag = 'Rollouts'
type Entry = ConfigEntry<'Rollout'>

/** A new rollout is pending until the next tick of the controller. */
const pendingMs = 5_000

const list = route({
  method: 'GET',
  path: '/api/v1/rollouts',
  needs: 'rollout:read',
  tag,
  summary: 'All rollouts, by name',
  query: NamedPaging,
  responses: { 200: { description: 'Rollouts', schema: Type.Array(Rollout) } },
  handle: (context) =>
    pageByName(listObjects(context, 'Rollout'), context.query, (entry) => shown(context, entry)),
})

const create = route({
  method: 'POST',
  path: '/api/v1/rollouts',
  needs: 'rollout:write',
  licensed: 'rollouts',
  tag,
  summary: "Begin a timed ramp of a member's weight (tier pro)",
  body: NewRollout,
  responses: { 201: { description: 'The rollout', schema: Rollout, isTagged: true } },
  refusals: writeRefusals,
  handle: async (context) => {
    const { ports, body } = context
    const refusal = ports.licence.refusal('rollouts')
    if (refusal !== undefined) return refused(403, refusal)
    const found = findPart(context, 'Member', body.memberId)
    if (found === undefined) return invalid('memberId', 'there is no such member')
    const nowMs = ports.clock.nowMs()
    const uid = uuidV7(nowMs)
    const done = await write(context, {
      verb: 'begin',
      kind: 'Rollout',
      tenant: found.owner.tenant,
      name: `rollout-${uid}`,
      uid,
      member: targetOf(context.caller, found.part.uid),
      spec: {
        startAt: new Date(nowMs + pendingMs).toISOString(),
        steps: body.steps,
        ...(body.regressionPolicy === undefined ? {} : { regressionPolicy: body.regressionPolicy }),
      },
      atMs: nowMs,
    })
    if (!done.ok) return done.error
    return created(shown(context, done.value.entry as Entry), done.value.headers)
  },
})

const get = route({
  method: 'GET',
  path: '/api/v1/rollouts/{id}',
  needs: 'rollout:read',
  tag,
  summary: 'One rollout',
  params: Id,
  responses: { 200: { description: 'The rollout', schema: Rollout, isTagged: true } },
  refusals: [404],
  handle: (context) => {
    const entry = findObject(context, 'Rollout', context.params.id)
    if (entry === undefined) return missing('rollout')
    return success(shown(context, entry), { etag: tagged(entry.object) })
  },
})

const summaries = {
  pause: 'Hold the current weight of a running rollout',
  promote: 'Jump to the weight of the last step',
  abort: 'Restore the weight from before the rollout',
} as const

const decisions = (['pause', 'promote', 'abort'] as const).map((intent) =>
  route({
    method: 'POST',
    path: `/api/v1/rollouts/{id}/${intent}`,
    needs: 'rollout:write',
    tag,
    summary: summaries[intent],
    params: Id,
    responses: { 200: { description: 'The rollout', schema: Rollout, isTagged: true } },
    ifMatch: 'the rollout',
    refusals: [404, ...writeRefusals],
    handle: (context) => decide(context, context.params.id, intent),
  }),
)

async function decide(
  context: Pick<RouteContext, 'caller' | 'ports' | 'request' | 'requestId' | 'isDryRun'>,
  id: string,
  intent: keyof typeof summaries,
) {
  const { caller, ports } = context
  const entry = findObject(context, 'Rollout', id)
  if (entry === undefined) return missing('rollout')
  const condition = preconditionOf(context, entry.object)
  if (!condition.ok) return condition.error
  // What a regression has ended is over, also before that is in the file.
  if (shown(context, entry).state === 'rolled_back') {
    return refused(409, `${intent} is not possible: the rollout is rolled back`)
  }
  const done = await write(context, {
    verb: 'decide',
    kind: 'Rollout',
    target: targetOf(caller, entry.uid),
    intent,
    atMs: ports.clock.nowMs(),
    ...condition.value,
  })
  return done.ok
    ? success(shown(context, done.value.entry as Entry), done.value.headers)
    : done.error
}

function shown({ ports }: Pick<RouteContext, 'ports'>, entry: Entry) {
  return showRollout(ports.config.snapshot(), ports.overlays, entry, ports.clock.nowMs())
}

export const rolloutRoutes: readonly Route[] = Object.freeze([list, create, get, ...decisions])
