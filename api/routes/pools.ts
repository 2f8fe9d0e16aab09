// /api/v1/pools: named groups of interchangeable members.
import type { Operation } from '#config/operation.ts'
import { objectRoutes, objectToChange } from '#api/config/object-routes.ts'
import { write } from '#api/config/writes.ts'
import { conditional } from '#api/route/if-match.ts'
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
import type { RouteContext } from '#api/route/route.ts'

const tag = 'Pools'
const pools = objectRoutes({
  ...{ kind: 'Pool', path: '/api/v1/pools', tag, noun: 'pool' },
  ...{ reads: 'pool:read', deletes: 'pool:delete', schema: Pool },
  show: (_, entry) => showPool(entry),
})

const create = route('POST /api/v1/pools', {
  needs: 'pool:write',
  tag,
  summary: 'Create a pool without members; its name is unique across tenants',
  body: NewPool,
  responses: { 201: pools.one },
  ports: ['configWriter', 'log'],
  handle: async (context) => {
    const { caller, body } = context
    const { tenant } = caller
    const operation = { verb: 'create', kind: 'Pool', tenant, name: body.name } as const
    const done = await write(context, { ...operation, spec: specOfNewPool(body) })
    return pools.created(context, done)
  },
})

const rename = route('PUT /api/v1/pools/{id}', {
  needs: 'pool:write',
  tag,
  summary: 'Rename a pool; its services, rollouts and windows follow, other fields stay',
  body: PoolBody,
  responses: { 200: pools.one },
  ifMatch: 'the pool',
  ports: ['config', 'configWriter', 'log'],
  handle: (context) => changePool(context, context.params.id, context.body),
})

const patch = route('PATCH /api/v1/pools/{id}', {
  needs: 'pool:write',
  tag,
  summary: 'Change the named fields of a pool; null takes a field back to its default',
  body: PoolPatch,
  responses: { 200: pools.one },
  ifMatch: 'the pool',
  ports: ['config', 'configWriter', 'log'],
  handle: (context) => changePool(context, context.params.id, context.body),
})

async function changePool(
  context: RouteContext<'config' | 'configWriter' | 'log'>,
  id: string,
  fields: PoolPatch,
): Promise<Reply> {
  const found = objectToChange(context, 'Pool', id, 'pool')
  if (!found.ok) return found.error
  const { on, condition } = found.value
  const { name } = fields
  const spec = patchOfPool(fields)
  const operations: Operation[] = []
  if (name !== undefined) operations.push({ verb: 'rename', ...on, name })
  if (name === undefined || Object.keys(spec).length > 0) {
    operations.push({ verb: 'update', ...on, patch: spec })
  }
  return pools.changed(context, await write(context, ...conditional(operations, condition)))
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
