// /api/v1/pools: members that can stand in for one another, by name.
import { Type } from 'typebox'
import { findObject, listObjects, targetOf } from '#api/config/reads.ts'
import { remove, tagged, write, writeRefusals } from '#api/config/writes.ts'
import { preconditionOf } from '#api/http/if-match.ts'
import { Paging, pageByName } from '#api/http/paging.ts'
import { created, missing, success } from '#api/http/reply.ts'
import { Pool, PoolBody, showPool } from '../resources/pool.ts'
import { route } from '#api/http/route.ts'
import type { Route } from '#api/http/route.ts'
import { Id } from '#api/http/shapes.ts'

const tag = 'Pools'

const create = route({
  method: 'POST',
  path: '/api/v1/pools',
  needs: 'pool:write',
  tag,
  summary: 'Create a pool without members; its name is unique across tenants',
  body: PoolBody,
  responses: { 201: { description: 'The pool', schema: Pool, isTagged: true } },
  refusals: writeRefusals,
  handle: async (context) => {
    const { caller, body } = context
    const { tenant } = caller
    const operation = { verb: 'create', kind: 'Pool', tenant, name: body.name } as const
    const done = await write(context, { ...operation, spec: {} })
    return done.ok ? created(showPool(done.value.entry), done.value.headers) : done.error
  },
})

const list = route({
  method: 'GET',
  path: '/api/v1/pools',
  needs: 'pool:read',
  tag,
  summary: 'All pools, by name',
  query: Paging,
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
  summary: 'Rename a pool; its services, rollouts and windows follow',
  params: Id,
  body: PoolBody,
  responses: { 200: { description: 'The pool', schema: Pool, isTagged: true } },
  ifMatch: 'the pool',
  refusals: [404, ...writeRefusals],
  handle: async (context) => {
    const { caller, params, body } = context
    const entry = findObject(context, 'Pool', params.id)
    if (entry === undefined) return missing('pool')
    const condition = preconditionOf(context, entry.object)
    if (!condition.ok) return condition.error
    const done = await write(context, {
      verb: 'rename',
      kind: 'Pool',
      target: targetOf(caller, entry.uid),
      name: body.name,
      ...condition.value,
    })
    return done.ok ? success(showPool(done.value.entry), done.value.headers) : done.error
  },
})

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

export const poolRoutes: readonly Route[] = Object.freeze([create, list, get, rename, removePool])
