// /api/v1/pools/{id}/members and /api/v1/members: the backends of a pool.
import { Type } from 'typebox'
import { partsIn } from '#config/entry.ts'
import { effectiveNow } from '#api/config/effective.ts'
import { findObject, findPart, partIn, targetOf } from '#api/config/reads.ts'
import { remove, tagged, write } from '#api/config/writes.ts'
import type { Written } from '#api/config/writes.ts'
import { preconditionOf } from '#api/route/if-match.ts'
import { Paging, pageInOrder } from '#http/paging.ts'
import { created, missing, refused, success } from '#http/reply.ts'
import type { Reply } from '#http/reply.ts'
import type { Ports } from '#api/ports/ports.ts'
import {
  Member,
  MemberChange,
  MemberPatch,
  NewMember,
  patchOfMember,
  showMember,
  specOfNewMember,
} from '../resources/member.ts'
import { routesOf } from '#api/route/route.ts'
import type { RouteContext } from '#api/route/route.ts'

const route = routesOf({ tag: 'Members' })

const create = route('POST /api/v1/pools/{id}/members', {
  needs: 'member:write',
  summary: 'Add a member to a pool',
  body: NewMember,
  responses: { 201: { description: 'The member', schema: Member, isTagged: true } },
  ifMatch: 'the pool',
  ports: ['config', 'configWriter', 'licence', 'overlays', 'clock', 'log'],
  handle: async (context) => {
    const { caller, ports, params, body } = context
    const pool = findObject(context, 'Pool', params.id)
    if (pool === undefined) return missing('pool')
    if (body.ipAddress === undefined && body.hostname === undefined) {
      return refused(400, 'ipAddress: is required, or a hostname in its place')
    }
    const condition = preconditionOf(context, pool.object)
    if (!condition.ok) return condition.error
    const most = ports.licence.memberLimit()
    const done = await write(context, {
      verb: 'create',
      kind: 'Member',
      owner: targetOf(caller, pool.uid),
      spec: specOfNewMember(body),
      atMs: ports.clock.nowMs(),
      ...(most && { limit: { partsMax: most.membersMax, message: most.refusal } }),
      ...condition.value,
    })
    return done.ok ? created(shown(ports, done.value), done.value.headers) : done.error
  },
})

const list = route('GET /api/v1/pools/{id}/members', {
  needs: 'member:read',
  summary: 'The members of a pool, in the order of its file',
  query: Paging,
  responses: { 200: { description: 'Members', schema: Type.Array(Member) } },
  ports: ['config', 'overlays', 'clock'],
  handle: (context) => {
    const pool = findObject(context, 'Pool', context.params.id)
    if (pool === undefined) return missing('pool')
    const members = partsIn('Member', pool)
    const now = effectiveNow(context.ports)
    return pageInOrder(members, context.query, (one) => showMember(pool.uid, one, now))
  },
})

const get = route('GET /api/v1/members/{id}', {
  needs: 'member:read',
  summary: 'One member',
  responses: { 200: { description: 'The member', schema: Member, isTagged: true } },
  ports: ['config', 'overlays', 'clock'],
  handle: (context) => {
    const found = findPart(context, 'Member', context.params.id)
    if (found === undefined) return missing('member')
    const { owner, part } = found
    const now = effectiveNow(context.ports)
    return success(showMember(owner.uid, part, now), { etag: tagged(part) })
  },
})

const change = route('PUT /api/v1/members/{id}', {
  needs: 'member:write',
  summary: 'Change the named fields of a member; address and port are its identity and stay',
  details:
    'While a rollout of the member is not over, its `weight` is refused with 409. ' +
    '`enabled: true` takes the member out of the maintenance windows that hold it out now.',
  body: MemberChange,
  responses: { 200: { description: 'The member', schema: Member, isTagged: true } },
  ifMatch: 'the member',
  ports: ['config', 'configWriter', 'overlays', 'clock', 'log'],
  handle: (context) => changeMember(context, context.params.id, context.body),
})

const patch = route('PATCH /api/v1/members/{id}', {
  needs: 'member:write',
  summary: 'Change the named fields of a member; null takes a field back to its default',
  details: 'At another address or hostname the member begins anew: nothing is known of its health.',
  body: MemberPatch,
  responses: { 200: { description: 'The member', schema: Member, isTagged: true } },
  ifMatch: 'the member',
  ports: ['config', 'configWriter', 'overlays', 'clock', 'log'],
  handle: (context) => changeMember(context, context.params.id, context.body),
})

async function changeMember(
  context: RouteContext<'config' | 'configWriter' | 'overlays' | 'clock' | 'log'>,
  id: string,
  fields: MemberPatch,
): Promise<Reply> {
  const found = findPart(context, 'Member', id)
  if (found === undefined) return missing('member')
  const condition = preconditionOf(context, found.part)
  if (!condition.ok) return condition.error
  const done = await write(context, {
    verb: 'update',
    kind: 'Member',
    target: targetOf(context.caller, found.part.uid),
    patch: patchOfMember(fields),
    atMs: context.ports.clock.nowMs(),
    ...condition.value,
  })
  return done.ok ? success(shown(context.ports, done.value), done.value.headers) : done.error
}

const removeMember = route('DELETE /api/v1/members/{id}', {
  needs: 'member:delete',
  summary: 'Delete a member, with the geo rules, rollouts and windows that name it',
  responses: { 204: { description: 'It is gone', schema: null } },
  ifMatch: 'the member',
  ports: ['config', 'configWriter', 'log'],
  handle: async (context) => {
    const found = findPart(context, 'Member', context.params.id)
    if (found === undefined) return missing('member')
    const condition = preconditionOf(context, found.part)
    if (!condition.ok) return condition.error
    const target = targetOf(context.caller, found.part.uid)
    return remove(context, { verb: 'delete', kind: 'Member', target, ...condition.value })
  },
})

function shown(ports: Ports<'config' | 'overlays' | 'clock'>, { entry, partId }: Written) {
  return showMember(entry.uid, partIn('Member', entry, partId), effectiveNow(ports))
}

export const memberRoutes = Object.freeze([create, list, get, change, patch, removeMember])
