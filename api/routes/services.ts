// /api/v1/services: a DNS name, the pool that answers for it, and how a member is chosen.
import type { ConfigEntry } from '#config/entry.ts'
import type { Operation } from '#config/operation.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { objectRoutes } from '#api/config/object-routes.ts'
import { findObject } from '#api/config/reads.ts'
import { unownedRefusal } from '#api/domains/record-rights.ts'
import { filterNamed } from '#routing/choose/ways.ts'
import { maySee } from '#access/caller.ts'
import { chainFeatures } from '#licence/chain-features.ts'
import { invalid, refused } from '#http/reply.ts'
import type { Reply } from '#http/reply.ts'
import {
  NewService,
  Service,
  ServiceBody,
  ServicePatch,
  mergedService,
  patchOfService,
  showService,
} from '../resources/service.ts'
import type { RouteContext } from '#api/route/route.ts'

const services = objectRoutes({
  kind: 'Service',
  path: '/api/v1/services',
  tag: 'Services',
  noun: 'service',
  reads: 'service:read',
  writes: 'service:write',
  deletes: 'service:delete',
  schema: Service,
  ports: ['config'],
  show: ({ ports }, entry) => showService(ports.config.snapshot(), entry),
})

type Asked = Pick<ServicePatch, 'domain' | 'poolId' | 'filterChain'>
type Context = RouteContext<'config' | 'licence' | 'domains', unknown, unknown, Asked>

const create = services.create({
  summary: 'Create a service; name and domain are unique across tenants',
  body: NewService,
  ports: ['licence', 'domains'],
  operation: async (context) => {
    const { caller, body } = context
    const pool = poolOf(context, caller.tenant)
    if (!pool.ok) return pool.error
    const refusal = chainRefusal(context, body, [])
    const unowned = refusal ?? (await unownedRefusal(context, body.domain))
    if (unowned !== undefined) return unowned
    const patch = Object.entries(patchOfService(body, pool.value.name))
    return {
      verb: 'create',
      kind: 'Service',
      tenant: caller.tenant,
      name: body.name,
      spec: Object.fromEntries(patch.filter(([, value]) => value !== null)),
      ...pool.value.reference,
    }
  },
})

const replace = services.change('PUT', {
  summary: 'Replace a service; a field that is left out goes back to its default',
  details: '`onAllDown`, `answerCount` and `weakSpots` stay when they are left out.',
  body: ServiceBody,
  ports: ['licence', 'domains'],
  operations: async (context, entry, on) => {
    const { body } = context
    const pool = await poolForChange(context, entry)
    if (!pool.ok) return pool.error
    const { name, reference } = pool.value
    return [
      { verb: 'rename', ...on, name: body.name },
      { verb: 'update', ...on, patch: patchOfService(body, name), ...reference },
    ]
  },
})

const patch = services.change('PATCH', {
  summary: 'Change the named fields of a service; null takes a field back to its default',
  body: ServicePatch,
  ports: ['licence', 'domains'],
  operations: async (context, entry, on) => {
    const { body } = context
    const pool = await poolForChange(context, entry)
    if (!pool.ok) return pool.error
    const { name, reference } = pool.value
    const operations: Operation[] = []
    if (body.name !== undefined) operations.push({ verb: 'rename', ...on, name: body.name })
    const merged = mergedService(body, body.poolId === undefined ? undefined : name)
    operations.push({ verb: 'update', ...on, patch: merged, ...reference })
    return operations
  },
})

const removeService = services.remove({
  summary: 'Delete a service; its name is no longer answered',
})

/** The pool of a service that is to change. Errors: a precondition that does not hold. */
async function poolForChange(
  context: Context,
  { tenant, object }: ConfigEntry<'Service'>,
): Promise<Result<AttachedPool, Reply>> {
  const { body } = context
  const pool = poolOf(context, tenant)
  if (!pool.ok) return pool
  const refusal = chainRefusal(context, body, object.spec.filterChain)
  if (refusal !== undefined) return err(refusal)
  const isMoved = body.domain !== object.spec.domain
  const unowned = isMoved ? await unownedRefusal(context, body.domain) : undefined
  return unowned === undefined ? pool : err(unowned)
}

interface AttachedPool {
  /** Name by which files refer to it; null: no pool is attached. */
  readonly name: string | null
  /** Reference by id for the operation, since its name may change before. */
  readonly reference: { readonly poolUid?: string }
}

function poolOf(
  context: Pick<RouteContext<'config'>, 'caller' | 'ports'> & { readonly body: Asked },
  tenant: string,
): Result<AttachedPool, Reply> {
  const id = context.body.poolId ?? ''
  if (id === '') return ok({ name: null, reference: {} })
  const pool = findObject(context, 'Pool', id)
  if (pool?.tenant === tenant) return ok({ name: pool.name, reference: { poolUid: pool.uid } })
  return err(
    invalid(
      'poolId',
      'there is no such pool; send the id or the name of a pool of the same tenant',
    ),
  )
}

/**
 * A chain needs a licence, and so do some of its filters; a script step needs a permission.
 *
 * @param before steps that existed already, whose scripts need none
 */
export function chainRefusal(
  { caller, ports }: Pick<RouteContext<'licence'>, 'caller' | 'ports'>,
  { filterChain }: Asked,
  before: readonly string[],
): Reply | undefined {
  for (const feature of chainFeatures(filterChain)) {
    const refusal = ports.licence.refusal(feature)
    if (refusal !== undefined) return refused(403, refusal)
  }
  if (maySee(caller, 'scripts:write')) return undefined
  const isScript = (step: string): boolean => filterNamed(step)?.way.feature === 'filter-scripts'
  const isNew = (step: string): boolean => isScript(step) && !before.includes(step)
  if (filterChain?.some(isNew) !== true) return undefined
  return refused(403, 'permission denied: a script step needs scripts:write')
}

export const serviceRoutes = Object.freeze([
  create,
  services.list(),
  services.get(),
  replace,
  patch,
  removeService,
])
