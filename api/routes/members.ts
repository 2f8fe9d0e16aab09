// /api/v1/pools/{id}/members and /api/v1/members: the backends of a pool.
import { Type } from '#lib/schema/type.ts'
import { partsIn } from '#config/entry.ts'
import { effectiveNow } from '#api/config/effective.ts'
import { objectRoutes } from '#api/config/object-routes.ts'
import type { On } from '#api/config/object-routes.ts'
import { findObject, targetOf } from '#api/config/reads.ts'
import { write } from '#api/config/writes.ts'
import type { Operation } from '#config/operation.ts'
import { preconditionOf } from '#api/route/if-match.ts'
import { Paging, pageInOrder } from '#http/paging.ts'
import { missing, refused } from '#http/reply.ts'
import {
  Member,
  MemberChange,
  MemberPatch,
  NewMember,
  patchOfMember,
  showMember,
  specOfNewMember,
} from '../resources/member.ts'
import type { RouteContext } from '#api/route/route.ts'

const members = objectRoutes({
  kind: 'Member',
  path: '/api/v1/members',
  tag: 'Members',
  noun: 'member',
  reads: 'member:read',
  writes: 'member:write',
  deletes: 'member:delete',
  schema: Member,
  ports: ['config', 'overlays', 'clock'],
  show: ({ ports }, { owner, part }) => showMember(owner.uid, part, effectiveNow(ports)),
})

const create = members.route('POST /api/v1/pools/{id}/members', {
  needs: 'member:write',
  summary: 'Add a member to a pool',
  body: NewMember,
  responses: { 201: members.one },
  ifMatch: 'the pool',
  ports: ['config', 'configWriter', 'licence', 'overlays', 'clock', 'log'],
  handle: async (context) => {
    const { caller, ports, params, body } = context
    const pool = findObject(context, 'Pool', params.id)
    if (pool === undefined) return missing('pool')
    if (body.ipAddress === undefined && body.hostname === undefined && body.from === undefined) {
      return refused(400, 'ipAddress: is required, or a hostname or from in its place')
    }
    const condition = preconditionOf(context, pool.object)
    if (!condition.ok) return condition.error
    const most = ports.licence.memberLimit()
    const done = await write(context, {
      verb: 'create',
      kind: 'Member',
      owner: targetOf(caller, pool.uid),
      ...specOfNewMember(body),
      atMs: ports.clock.nowMs(),
      ...(most && { limit: { partsMax: most.membersMax, message: most.refusal } }),
      ...condition.value,
    })
    return members.created(context, done)
  },
})

const list = members.route('GET /api/v1/pools/{id}/members', {
  needs: 'member:read',
  summary: 'The members of a pool, in the order of its file',
  query: Paging,
  responses: { 200: { description: 'Members', schema: Type.Array(Member) } },
  ports: ['config', 'overlays', 'clock'],
  handle: (context) => {
    const pool = findObject(context, 'Pool', context.params.id)
    if (pool === undefined) return missing('pool')
    const now = effectiveNow(context.ports)
    return pageInOrder(partsIn('Member', pool), context.query, (one) =>
      showMember(pool.uid, one, now),
    )
  },
})

const change = members.change('PUT', {
  summary: 'Change the named fields of a member; address and port are its identity and stay',
  details:
    'While a rollout of the member is not over, its `weight` is refused with 409. ' +
    '`enabled: true` takes the member out of the maintenance windows that hold it out now.',
  body: MemberChange,
  operations: changesOf,
})

const patch = members.change('PATCH', {
  summary: 'Change the named fields of a member; null takes a field back to its default',
  details: 'At another address or hostname the member begins anew: nothing is known of its health.',
  body: MemberPatch,
  operations: changesOf,
})

function changesOf(
  { ports, body }: RouteContext<'clock', unknown, unknown, MemberPatch>,
  _: unknown,
  on: On<'Member'>,
): readonly Operation[] {
  return [{ verb: 'update', ...on, ...patchOfMember(body), atMs: ports.clock.nowMs() }]
}

const removeMember = members.remove({
  summary: 'Delete a member, with the geo rules, rollouts and windows that name it',
})

export const memberRoutes = Object.freeze([
  create,
  list,
  members.get(),
  change,
  patch,
  removeMember,
])
