// /api/v1/pools/{id}/healthcheck: the health check of a pool.
import { etagOf } from '#config/entry.ts'
import type { ConfigEntry } from '#config/entry.ts'
import type { UpdateObject } from '#config/operation.ts'
import { findObject, targetOf } from '#api/config/reads.ts'
import { remove, tagged, write } from '#api/config/writes.ts'
import { preconditionOf } from '#api/route/if-match.ts'
import type { Precondition } from '#api/route/if-match.ts'
import { missing, refused, success } from '#http/reply.ts'
import type { Reply } from '#http/reply.ts'
import {
  HealthCheck,
  HealthCheckBody,
  HealthCheckPatch,
  patchOfHealthCheck,
  specOfHealthCheck,
} from '../resources/health-check.ts'
import { routesOf } from '#api/route/route.ts'
import type { RouteContext } from '#api/route/route.ts'

const route = routesOf({ tag: 'Health checks' })

const put = route('PUT /api/v1/pools/{id}/healthcheck', {
  needs: 'hc:write',
  summary: 'Set the health check of a pool, whole; zero values take their defaults',
  body: HealthCheckBody,
  responses: { 200: { description: 'The health check', schema: HealthCheck, isTagged: true } },
  ifMatch: 'the pool',
  ports: ['config', 'configWriter', 'checkPolicy', 'log'],
  handle: async (context) => {
    const { params, body } = context
    const pool = findObject(context, 'Pool', params.id)
    if (pool === undefined) return missing('pool')
    const refusal = scriptCheckRefusal(context, body)
    if (refusal !== undefined) return refusal
    return change(context, pool, () => ({ patch: { healthCheck: specOfHealthCheck(body) } }))
  },
})

const patch = route('PATCH /api/v1/pools/{id}/healthcheck', {
  needs: 'hc:write',
  summary: 'Change the named fields of a health check; null takes a field back to its default',
  details: 'With a `type` that becomes `script`, program and text that it does not name go.',
  body: HealthCheckPatch,
  responses: { 200: { description: 'The health check', schema: HealthCheck, isTagged: true } },
  ifMatch: 'the pool',
  ports: ['config', 'configWriter', 'checkPolicy', 'log'],
  handle: async (context) => {
    const { caller, params, body } = context
    const pool = findObject(context, 'Pool', params.id)
    if (pool === undefined) return missing('pool')
    const { healthCheck: before } = pool.object.spec
    if (before === undefined) return missing('health check')
    const isScript = (body.type ?? before.type) === 'script'
    const refusal = scriptCheckRefusal(context, { type: isScript ? 'script' : 'tcp' })
    if (refusal !== undefined) return refusal
    const unless = { field: 'type', value: 'script', message: scriptsAreForAdmins }
    return change(context, pool, (condition) => ({
      group: 'healthCheck',
      patch: patchOfHealthCheck(isScript && before.type !== 'script' ? newScript(body) : body),
      // A caller who may not set a script must not change one that was set in the meantime.
      ...(caller.isSystemAdmin || body.type !== undefined ? {} : { unless }),
      // A program that was set in the meantime must not be run.
      ...(isScript && isOpen(condition) ? { ifMatch: etagOf(pool.object) } : {}),
    }))
  },
})

const isOpen = ({ ifMatch = '*' }: Precondition): boolean => ifMatch === '*'

/** Clears an unused program of an earlier type: changing the type alone must not run it. */
function newScript(body: HealthCheckPatch): HealthCheckPatch {
  return { scriptPath: null, scriptContent: null, ...body }
}

const get = route('GET /api/v1/pools/{id}/healthcheck', {
  needs: 'hc:read',
  summary: 'The health check of a pool',
  responses: { 200: { description: 'The health check', schema: HealthCheck, isTagged: true } },
  ports: ['config'],
  handle: (context) => {
    const pool = findObject(context, 'Pool', context.params.id)
    if (pool === undefined) return missing('pool')
    const { healthCheck } = pool.object.spec
    if (healthCheck === undefined) return missing('health check')
    return success(healthCheck, { etag: tagged(pool.object) })
  },
})

const removeCheck = route('DELETE /api/v1/pools/{id}/healthcheck', {
  needs: 'hc:delete',
  summary: 'Delete the health check of a pool: all its members count as healthy',
  responses: { 204: { description: 'It is gone', schema: null } },
  ifMatch: 'the pool',
  ports: ['config', 'configWriter', 'log'],
  handle: async (context) => {
    const pool = findObject(context, 'Pool', context.params.id)
    if (pool === undefined) return missing('pool')
    if (pool.object.spec.healthCheck === undefined) return missing('health check')
    const condition = preconditionOf(context, pool.object)
    if (!condition.ok) return condition.error
    return remove(context, {
      verb: 'update',
      kind: 'Pool',
      target: targetOf(context.caller, pool.uid),
      patch: { healthCheck: null },
      ...condition.value,
    })
  },
})

/** @param fieldsOf makes the fields; they hold under the precondition of the request */
async function change(
  context: RouteContext<'configWriter' | 'log'>,
  pool: ConfigEntry<'Pool'>,
  fieldsOf: (
    condition: Precondition,
  ) => Pick<UpdateObject, 'patch' | 'group' | 'unless' | 'ifMatch'>,
): Promise<Reply> {
  const condition = preconditionOf(context, pool.object)
  if (!condition.ok) return condition.error
  const done = await write(context, {
    verb: 'update',
    kind: 'Pool',
    target: targetOf(context.caller, pool.uid),
    ...condition.value,
    ...fieldsOf(condition.value),
  })
  if (!done.ok) return done.error
  const { healthCheck } = (done.value.entry as typeof pool).object.spec
  return success(healthCheck, done.value.headers)
}

/** Two conditions: the setting of the node, and the permission of the caller. */
export function scriptCheckRefusal(
  { caller, ports }: Pick<RouteContext<'checkPolicy'>, 'caller' | 'ports'>,
  { type }: Pick<HealthCheckBody, 'type'>,
): Reply | undefined {
  if (type !== 'script') return undefined
  if (!ports.checkPolicy.allowScriptChecks) {
    return refused(403, 'this node runs no scripts as health checks (health.allowScriptChecks)')
  }
  return caller.isSystemAdmin ? undefined : refused(403, scriptsAreForAdmins)
}

const scriptsAreForAdmins = 'admin access required: only a system administrator sets script checks'

export const healthCheckRoutes = Object.freeze([put, patch, get, removeCheck])
