// /api/v1/pools: named groups of interchangeable members.
import { Type } from 'typebox'
import type { ConfigEntry } from '#config/entry.ts'
import type { Operation } from '#config/operation.ts'
import { findObject, listObjects, targetOf } from '#api/config/reads.ts'
import { remove, tagged, write, writeRefusals } from '#api/config/writes.ts'
import type { Written } from '#api/config/writes.ts'
import { conditional, preconditionOf } from '#api/route/if-match.ts'
import { NamedPaging, pageByName } from '#http/paging.ts'
import { created, missing, success } from '#http/reply.ts'
import type { Reply } from '#http/reply.ts'
import {
  NewPool,
  Pool,
  PoolBody,
  PoolPatch,
  patchOfPool,
  showPool,
  specOfNewPool,
} from '../resources/pool.ts'
import { route } from '#api/route/route.ts'
import type { Route, RouteContext } from '#api/route/route.ts'
import { Id } from '#http/shapes.ts'

const tag = 'Pools'

const create = route({
  method: 'POST',
  path: '/api/v1/pools',
  needs: 'pool:write',
  tag,
  summary: 'Create a pool without members; its name is unique across tenants',
  body: NewPool,
  responses: { 201: { description: 'The pool', schema: Pool, isTagged: true } },
  refusals: writeRefusals,
  handle: async (context) => {
    const { caller, body } = context
    const { tenant } = caller
    const operation = { verb: 'create', kind: 'Pool', tenant, name: body.name } as const
    const done = await write(context, { ...operation, spec: specOfNewPool(body) })
    return done.ok ? created(shown(done.value), done.value.headers) : done.error
  },
})

const list = route({
  method: 'GET',
  path: '/api/v1/pools',
  needs: 'pool:read',
  tag,
  summary: 'All pools, by name',
  query: NamedPaging,
  responses: { 200: { description: 'Pools', schema: Type.Array(Pool) } },
  handle: (context) => pageByName(listObjects(context, 'Pool'), context.query, showPool),
})

const get = route({
  method: 'GET',
  path: '/api/v1/pools/{id}',
  needs: 'pool:read',
  tag,
  summary: 'One pool',
  params: Id,
  responses: { 200: { description: 'The pool', schema: Pool, isTagged: true } },
  refusals: [404],
  handle: (context) => {
    const entry = findObject(context, 'Pool', context.params.id)
    if (entry === undefined) return missing('pool')
    return success(showPool(entry), { etag: tagged(entry.object) })
  },
})

const rename = route({
  method: 'PUT',
  path: '/api/v1/pools/{id}',
  needs: 'pool:write',
  tag,
  summary: 'Rename a pool; its services, rollouts and windows follow, other fields stay',
  params: Id,
  body: PoolBody,
  responses: { 200: { description: 'The pool', schema: Pool, isTagged: true } },
  ifMatch: 'the pool',
  refusals: [404, ...writeRefusals],
  handle: (context) => changePool(context, context.params.id, context.body),
})

const patch = route({
  method: 'PATCH',
  path: '/api/v1/pools/{id}',
  needs: 'pool:write',
  tag,
  summary: 'Change the named fields of a pool; null takes a field back to its default',
  params: Id,
  body: PoolPatch,
  responses: { 200: { description: 'The pool', schema: Pool, isTagged: true } },
  ifMatch: 'the pool',
  refusals: [404, ...writeRefusals],
  handle: (context) => changePool(context, context.params.id, context.body),
})

async function changePool(context: RouteContext, id: string, fields: PoolPatch): Promise<Reply> {
  const entry = findObject(context, 'Pool', id)
  if (entry === undefined) return missing('pool')
  const condition = preconditionOf(context, entry.object)
  if (!condition.ok) return condition.error
  const on = { kind: 'Pool', target: targetOf(context.caller, entry.uid) } as const
  const { name } = fields
  const spec = patchOfPool(fields)
  const operations: Operation[] = []
  if (name !== undefined) operations.push({ verb: 'rename', ...on, name })
  if (name === undefined || Object.keys(spec).length > 0) {
    operations.push({ verb: 'update', ...on, patch: spec })
  }
  const done = await write(context, ...conditional(operations, condition.value))
  return done.ok ? success(shown(done.value), done.value.headers) : done.error
}

function shown({ entry }: Written) {
  return showPool(entry as ConfigEntry<'Pool'>)
}

const removePool = route({
  method: 'DELETE',
  path: '/api/v1/pools/{id}',
  needs: 'pool:delete',
  tag,
  summary: 'Delete a pool, its members, health check, geo rules, rollouts and windows',
  details:
    'Services that use it stay, with `poolId` null: their names are answered without records ' +
    'until another pool is attached.',
  params: Id,
  responses: { 204: { description: 'It is gone; its services have no pool', schema: null } },
  ifMatch: 'the pool',
  refusals: [404, ...writeRefusals],
  handle: async (context) => {
    const entry = findObject(context, 'Pool', context.params.id)
    if (entry === undefined) return missing('pool')
    const condition = preconditionOf(context, entry.object)
    if (!condition.ok) return condition.error
    const target = targetOf(context.caller, entry.uid)
    return remove(context, { verb: 'delete', kind: 'Pool', target, ...condition.value })
  },
})

export const poolRoutes: readonly Route[] = Object.freeze([
  create,
  list,
  get,
  rename,
  patch,
  removePool,
])
