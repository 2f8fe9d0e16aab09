// /api/v1/pools: named groups of interchangeable members.
import type { Operation } from '#config/operation.ts'
import { objectRoutes } from '#api/config/object-routes.ts'
import type { On } from '#api/config/object-routes.ts'
import {
  NewPool,
  Pool,
  PoolBody,
  PoolPatch,
  patchOfPool,
  showPool,
  specOfNewPool,
} from '../resources/pool.ts'

const pools = objectRoutes({
  kind: 'Pool',
  path: '/api/v1/pools',
  tag: 'Pools',
  noun: 'pool',
  reads: 'pool:read',
  writes: 'pool:write',
  deletes: 'pool:delete',
  schema: Pool,
  show: (_, entry) => showPool(entry),
})

const create = pools.create({
  summary: 'Create a pool without members; its name is unique across tenants',
  body: NewPool,
  operation: ({ caller: { tenant }, body }) => {
    return { verb: 'create', kind: 'Pool', tenant, name: body.name, spec: specOfNewPool(body) }
  },
})

const rename = pools.change('PUT', {
  summary: 'Rename a pool; its services, rollouts and windows follow, other fields stay',
  body: PoolBody,
  operations: ({ body }, _, on) => changesOf(body, on),
})

const patch = pools.change('PATCH', {
  summary: 'Change the named fields of a pool; null takes a field back to its default',
  body: PoolPatch,
  operations: ({ body }, _, on) => changesOf(body, on),
})

function changesOf(fields: PoolPatch, on: On<'Pool'>): readonly Operation[] {
  const { name } = fields
  const spec = patchOfPool(fields)
  const operations: Operation[] = []
  if (name !== undefined) operations.push({ verb: 'rename', ...on, name })
  if (name === undefined || Object.keys(spec).length > 0) {
    operations.push({ verb: 'update', ...on, patch: spec })
  }
  return operations
}

const removePool = pools.remove({
  summary: 'Delete a pool, its members, health check, geo rules, rollouts and windows',
  details:
    'Services that use it stay, with `poolId` null: their names are answered without records ' +
    'until another pool is attached.',
  description: 'It is gone; its services have no pool',
})

export const poolRoutes = Object.freeze([
  create,
  pools.list(),
  pools.get(),
  rename,
  patch,
  removePool,
])
