// /api/v1/rollouts: timed ramps of one member's weight.
import { Type } from 'typebox'
import { etagOf } from '#config/entry.ts'
import type { ConfigEntry } from '#config/entry.ts'
import type { Operation } from '#config/operation.ts'
import { uuidV7 } from '#lib/uuid.ts'
import { allowedIntents } from '#routing/time/rollout.ts'
import { readInstant } from '#schemas/forms/instant.ts'
import { findObject, findPart, listObjects, targetOf } from '#api/config/reads.ts'
import { tagged, write, writeRefusals } from '#api/config/writes.ts'
import { preconditionOf } from '#api/http/if-match.ts'
import { Paging, pageByName } from '#api/http/paging.ts'
import { created, invalid, missing, refused, success } from '#api/http/reply.ts'
import {
  NewRollout,
  Rollout,
  momentOf,
  showRollout,
  targetOfRollout,
} from '../resources/rollout.ts'
import { route } from '#api/http/route.ts'
import type { Route, RouteContext } from '#api/http/route.ts'
import { Id } from '#api/http/shapes.ts'

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
  query: Paging,
  responses: { 200: { description: 'Rollouts', schema: Type.Array(Rollout) } },
  handle: (context) =>
    pageByName(listObjects(context, 'Rollout'), context.query, (entry) => shown(context, entry)),
})

const create = route({
  method: 'POST',
  path: '/api/v1/rollouts',
  needs: 'rollout:write',
  tag,
  summary: "Begin a timed ramp of a member's weight (tier pro)",
  body: NewRollout,
  responses: { 201: { description: 'The rollout', schema: Rollout, isTagged: true } },
  // It settles an earlier rollout as it was seen.
  refusals: [412, ...writeRefusals],
  handle: async (context) => {
    const { ports, body } = context
    const refusal = ports.licence.refusal('rollouts')
    if (refusal !== undefined) return refused(403, refusal)
    const found = findPart(context, 'Member', body.memberId)
    if (found === undefined) return invalid('memberId', 'there is no such member')
    const { owner, part } = found
    const earlier = settleEarlier(context, part.uid)
    const nowMs = ports.clock.nowMs()
    const uid = uuidV7(nowMs)
    const spec = {
      pool: owner.name,
      memberId: part.uid,
      startAt: new Date(nowMs + pendingMs).toISOString(),
      baseWeight: earlier.weight ?? part.weight,
      steps: body.steps,
      ...(body.regressionPolicy === undefined ? {} : { regressionPolicy: body.regressionPolicy }),
    }
    const name = `rollout-${uid}`
    const { tenant } = owner
    const of = { tenant, name, uid, spec, poolUid: owner.uid }
    const making = { verb: 'create', kind: 'Rollout', ...of } as const
    const done = await write(context, ...earlier.operations, making)
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
  const nowMs = ports.clock.nowMs()
  const weight = targetOfRollout(ports.config.snapshot(), entry)?.member.weight ?? 0
  const { state } = momentOf(ports.overlays, entry, weight, nowMs)
  if (!allowedIntents[state].includes(intent)) {
    return refused(409, `${intent} is not possible: the rollout is ${state.replace('_', ' ')}`)
  }
  const { intents } = entry.object.spec
  const lastMs = readInstant(intents.at(-1)?.at ?? '').atMs ?? 0
  const at = new Date(Math.max(nowMs, lastMs + 1)).toISOString()
  const done = await write(context, {
    verb: 'update',
    kind: 'Rollout',
    target: targetOf(caller, entry.uid),
    patch: { intents: [...intents, { intent, at }] },
    // Decided by what was seen: somebody else's decision in between goes first.
    ifMatch: condition.value.ifMatch ?? etagOf(entry.object),
  })
  if (done.ok) return success(shown(context, done.value.entry as Entry), done.value.headers)
  const isOverrun = done.error.status === 412 && condition.value.ifMatch === undefined
  return isOverrun ? refused(409, 'somebody else has just changed the rollout') : done.error
}

/** What is over leaves its weight in the pool, so that the next rollout can begin from there. */
function settleEarlier(
  context: Pick<RouteContext, 'caller' | 'ports'>,
  memberId: string,
): { readonly operations: readonly Operation[]; readonly weight?: number } {
  const { caller, ports } = context
  const snapshot = ports.config.snapshot()
  for (const entry of listObjects(context, 'Rollout')) {
    if (entry.object.spec.settled !== undefined) continue
    const target = targetOfRollout(snapshot, entry)
    if (target?.member.uid !== memberId) continue
    const moment = momentOf(ports.overlays, entry, target.member.weight, ports.clock.nowMs())
    const { state, weight } = moment
    if (state !== 'promoted' && state !== 'rolled_back') continue
    const [rollout, member] = [targetOf(caller, entry.uid), targetOf(caller, memberId)]
    const settling = { verb: 'update', kind: 'Rollout', target: rollout } as const
    const weighing = { verb: 'update', kind: 'Member', target: member } as const
    const operations: Operation[] = [
      { ...weighing, patch: { weight } },
      { ...settling, patch: { settled: state }, ifMatch: etagOf(entry.object) },
    ]
    return { operations, weight }
  }
  return { operations: [] }
}

function shown({ ports }: Pick<RouteContext, 'ports'>, entry: Entry) {
  return showRollout(ports.config.snapshot(), ports.overlays, entry, ports.clock.nowMs())
}

export const rolloutRoutes: readonly Route[] = Object.freeze([list, create, get, ...decisions])
