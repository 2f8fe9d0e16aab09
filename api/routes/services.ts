// /api/v1/services: a DNS name, the pool that answers for it, and how a member is chosen.
import type { Operation, Target } from '#config/operation.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { objectRoutes } from '#api/config/object-routes.ts'
import { findObject, targetOf } from '#api/config/reads.ts'
import { write } from '#api/config/writes.ts'
import { unownedRefusal } from '#api/domains/record-rights.ts'
import { conditional, preconditionOf } from '#api/route/if-match.ts'
import type { Precondition } from '#api/route/if-match.ts'
import { filterNamed } from '#routing/choose/ways.ts'
import type { Caller } from '#access/caller.ts'
import { chainFeatures } from '#licence/chain-features.ts'
import type { LicenceGate } from '#licence/gate.ts'
import { invalid, missing, refused } from '#http/reply.ts'
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
import { route } from '#api/route/route.ts'
import type { RouteContext } from '#api/route/route.ts'

const tag = 'Services'
const services = objectRoutes({
  ...{ kind: 'Service', path: '/api/v1/services', tag, noun: 'service' },
  ...{ reads: 'service:read', deletes: 'service:delete', schema: Service },
  ports: ['config'],
  show: ({ ports }, entry) => showService(ports.config.snapshot(), entry),
})

type Asked = Pick<ServicePatch, 'domain' | 'poolId' | 'filterChain'>
type Context = Pick<RouteContext<'config'>, 'caller' | 'ports'> & { readonly body: Asked }

const create = route('POST /api/v1/services', {
  needs: 'service:write',
  tag,
  summary: 'Create a service; name and domain are unique across tenants',
  body: NewService,
  responses: { 201: services.one },
  ports: ['config', 'configWriter', 'licence', 'domains', 'log'],
  handle: async (context) => {
    const { caller, ports, body } = context
    const pool = poolOf(context, caller.tenant)
    if (!pool.ok) return pool.error
    const refusal = chainRefusal(ports.licence, body) ?? scriptRefusal(caller, body, [])
    const unowned = refusal ?? (await unownedRefusal(context, body.domain))
    if (unowned !== undefined) return unowned
    const patch = Object.entries(patchOfService(body, pool.value.name))
    const done = await write(context, {
      verb: 'create',
      kind: 'Service',
      tenant: caller.tenant,
      name: body.name,
      spec: Object.fromEntries(patch.filter(([, value]) => value !== null)),
      ...pool.value.reference,
    })
    return services.created(context, done)
  },
})

const replace = route('PUT /api/v1/services/{id}', {
  needs: 'service:write',
  tag,
  summary: 'Replace a service; a field that is left out goes back to its default',
  details: '`onAllDown`, `answerCount` and `weakSpots` stay when they are left out.',
  body: ServiceBody,
  responses: { 200: services.one },
  ifMatch: 'the service',
  ports: ['config', 'configWriter', 'licence', 'domains', 'log'],
  handle: (context) =>
    change(context, ({ on, pool: { name, reference }, condition }) => {
      const { body } = context
      return [
        { verb: 'rename', ...on, name: body.name, ...condition },
        { verb: 'update', ...on, patch: patchOfService(body, name), ...reference },
      ]
    }),
})

const patch = route('PATCH /api/v1/services/{id}', {
  needs: 'service:write',
  tag,
  summary: 'Change the named fields of a service; null takes a field back to its default',
  body: ServicePatch,
  responses: { 200: services.one },
  ifMatch: 'the service',
  ports: ['config', 'configWriter', 'licence', 'domains', 'log'],
  handle: (context) =>
    change(context, ({ on, pool: { name, reference }, condition }) => {
      const { body } = context
      const operations: Operation[] = []
      if (body.name !== undefined) operations.push({ verb: 'rename', ...on, name: body.name })
      const merged = mergedService(body, body.poolId === undefined ? undefined : name)
      operations.push({ verb: 'update', ...on, patch: merged, ...reference })
      return conditional(operations, condition)
    }),
})

const removeService = services.remove({
  summary: 'Delete a service; its name is no longer answered',
})

interface Change {
  readonly on: { readonly kind: 'Service'; readonly target: Target }
  readonly pool: AttachedPool
  readonly condition: Precondition
}

/** What has to hold before a service is changed, and the answer after it was. */
async function change(
  context: RouteContext<
    'config' | 'configWriter' | 'licence' | 'domains' | 'log',
    { readonly id: string },
    unknown,
    Asked
  >,
  operationsOf: (change: Change) => readonly Operation[],
): Promise<Reply> {
  const { caller, ports, params, body } = context
  const entry = findObject(context, 'Service', params.id)
  if (entry === undefined) return missing('service')
  const pool = poolOf(context, entry.tenant)
  if (!pool.ok) return pool.error
  const refusal =
    chainRefusal(ports.licence, body) ?? scriptRefusal(caller, body, entry.object.spec.filterChain)
  if (refusal !== undefined) return refusal
  const isMoved = body.domain !== entry.object.spec.domain
  const unowned = isMoved ? await unownedRefusal(context, body.domain) : undefined
  if (unowned !== undefined) return unowned
  const condition = preconditionOf(context, entry.object)
  if (!condition.ok) return condition.error
  const on = { kind: 'Service', target: targetOf(caller, entry.uid) } as const
  const operations = operationsOf({ on, pool: pool.value, condition: condition.value })
  return services.changed(context, await write(context, ...operations))
}

interface AttachedPool {
  /** By which files refer to it; null: none is attached. */
  readonly name: string | null
  /** For the operation: it may have another name by the time of it. */
  readonly reference: { readonly poolUid?: string }
}

function poolOf(context: Context, tenant: string): Result<AttachedPool, Reply> {
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

/** @param before scripts that were there already are nobody's change */
export function scriptRefusal(
  caller: Caller,
  { filterChain }: Asked,
  before: readonly string[],
): Reply | undefined {
  if (caller.isSystemAdmin || caller.permissions.has('scripts:write')) return undefined
  const isScript = (step: string): boolean => filterNamed(step)?.way.feature === 'filter-scripts'
  const isNew = (step: string): boolean => isScript(step) && !before.includes(step)
  if (filterChain?.some(isNew) !== true) return undefined
  return refused(403, 'permission denied: a script step needs scripts:write')
}

/** A chain needs a licence, and so do some of its filters. */
export function chainRefusal(licence: LicenceGate, { filterChain }: Asked): Reply | undefined {
  for (const feature of chainFeatures(filterChain)) {
    const refusal = licence.refusal(feature)
    if (refusal !== undefined) return refused(403, refusal)
  }
  return undefined
}

export const serviceRoutes = Object.freeze([
  create,
  services.list(),
  services.get(),
  replace,
  patch,
  removeService,
])
