// /api/v1/pools/{poolId}/georules and /api/v1/georules: which clients prefer which member.
import { Type } from 'typebox'
import { partsIn } from '#config/entry.ts'
import type { ConfigPart } from '#config/entry.ts'
import { findObject, findPart, partIn, targetOf } from '#api/config/reads.ts'
import { remove, write } from '#api/config/writes.ts'
import type { Written } from '#api/config/writes.ts'
import { preconditionOf } from '#api/route/if-match.ts'
import { Paging, pageInOrder } from '#http/paging.ts'
import { created, missing, refused, success } from '#http/reply.ts'
import type { Reply } from '#http/reply.ts'
import {
  GeoRule,
  GeoRuleChange,
  NewGeoRule,
  normalRule,
  showGeoRule,
} from '../resources/geo-rule.ts'
import { canonical } from '../resources/member.ts'
import { routesOf } from '#api/route/route.ts'
import type { RouteContext } from '#api/route/route.ts'

const route = routesOf({ tag: 'Geo rules' })

const list = route('GET /api/v1/pools/{poolId}/georules', {
  needs: 'geo:read',
  summary: 'The geo rules of a pool, in the order of its file',
  query: Paging,
  responses: { 200: { description: 'Geo rules', schema: Type.Array(GeoRule) } },
  ports: ['config'],
  handle: (context) => {
    const pool = findObject(context, 'Pool', context.params.poolId)
    if (pool === undefined) return missing('pool')
    const rules = partsIn('GeoRule', pool)
    return pageInOrder(rules, context.query, (rule) => showGeoRule(pool.uid, rule))
  },
})

const create = route('POST /api/v1/pools/{poolId}/georules', {
  needs: 'geo:write',
  licensed: 'geo-rules',
  summary: 'Send the clients of one network to one member (tier pro)',
  body: NewGeoRule,
  responses: { 201: { description: 'The geo rule', schema: GeoRule, isTagged: true } },
  ifMatch: 'the pool',
  ports: ['config', 'configWriter', 'licence', 'clock', 'log'],
  handle: async (context) => {
    const { caller, params, body } = context
    const pool = findObject(context, 'Pool', params.poolId)
    if (pool === undefined) return missing('pool')
    const refusal = licenceRefusal(context)
    if (refusal !== undefined) return refusal
    const condition = preconditionOf(context, pool.object)
    if (!condition.ok) return condition.error
    const now = unixSeconds(context)
    const done = await write(context, {
      verb: 'create',
      kind: 'GeoRule',
      owner: targetOf(caller, pool.uid),
      spec: { ...normalRule(body), createdAt: now, updatedAt: now },
      ...condition.value,
    })
    return done.ok ? created(shown(done.value), done.value.headers) : done.error
  },
})

const replace = route('PUT /api/v1/georules/{id}', {
  needs: 'geo:write',
  licensed: 'geo-rules',
  summary: 'Replace a geo rule (tier pro)',
  body: GeoRuleChange,
  responses: { 200: { description: 'The geo rule', schema: GeoRule, isTagged: true } },
  ifMatch: 'the geo rule',
  ports: ['config', 'configWriter', 'licence', 'clock', 'log'],
  handle: async (context) => {
    const { caller, params, body } = context
    const found = findPart(context, 'GeoRule', params.id)
    if (found === undefined) return missing('geo rule')
    const refusal = licenceRefusal(context)
    if (refusal !== undefined) return refusal
    const condition = preconditionOf(context, found.part)
    if (!condition.ok) return condition.error
    const fields = normalRule(body)
    const time = isSame(found, fields) ? {} : { updatedAt: unixSeconds(context) }
    const done = await write(context, {
      verb: 'update',
      kind: 'GeoRule',
      target: targetOf(caller, found.part.uid),
      patch: { ...fields, ...time },
      ...condition.value,
    })
    return done.ok ? success(shown(done.value), done.value.headers) : done.error
  },
})

const removeRule = route('DELETE /api/v1/georules/{id}', {
  needs: 'geo:delete',
  summary: 'Delete a geo rule',
  responses: { 204: { description: 'It is gone', schema: null } },
  ifMatch: 'the geo rule',
  ports: ['config', 'configWriter', 'log'],
  handle: async (context) => {
    const found = findPart(context, 'GeoRule', context.params.id)
    if (found === undefined) return missing('geo rule')
    const condition = preconditionOf(context, found.part)
    if (!condition.ok) return condition.error
    const target = targetOf(context.caller, found.part.uid)
    return remove(context, { verb: 'delete', kind: 'GeoRule', target, ...condition.value })
  },
})

function licenceRefusal({ ports }: Pick<RouteContext<'licence'>, 'ports'>): Reply | undefined {
  const refusal = ports.licence.refusal('geo-rules')
  return refusal === undefined ? undefined : refused(403, refusal)
}

/** A change that changes nothing must not change its time, which would make a commit. */
function isSame(
  { part }: ConfigPart<'GeoRule'>,
  fields: { readonly cidr: string; readonly endpoint: string; readonly priority: number },
): boolean {
  const { cidr, endpoint, priority } = fields
  const isHere = part.cidr === cidr && canonical(part.endpoint) === endpoint
  return isHere && part.priority === priority
}

function unixSeconds({ ports }: Pick<RouteContext<'clock'>, 'ports'>): number {
  return Math.floor(ports.clock.nowMs() / 1000)
}

function shown({ entry, partId }: Written) {
  return showGeoRule(entry.uid, partIn('GeoRule', entry, partId))
}

export const geoRuleRoutes = Object.freeze([list, create, replace, removeRule])
