// /api/v1/pools/{poolId}/georules and /api/v1/georules: which clients prefer which member.
import { Type } from '#lib/schema/type.ts'
import { partsIn } from '#config/entry.ts'
import type { ConfigPart } from '#config/entry.ts'
import { objectRoutes } from '#api/config/object-routes.ts'
import { findObject, targetOf } from '#api/config/reads.ts'
import { write } from '#api/config/writes.ts'
import { preconditionOf } from '#api/route/if-match.ts'
import { Paging, pageInOrder } from '#http/paging.ts'
import { missing } from '#http/reply.ts'
import { unixSeconds } from '#http/shapes.ts'
import {
  GeoRule,
  GeoRuleChange,
  NewGeoRule,
  normalRule,
  showGeoRule,
} from '../resources/geo-rule.ts'
import { canonical } from '../resources/member.ts'

const rules = objectRoutes({
  kind: 'GeoRule',
  path: '/api/v1/georules',
  tag: 'Geo rules',
  noun: 'geo rule',
  reads: 'geo:read',
  writes: 'geo:write',
  deletes: 'geo:delete',
  schema: GeoRule,
  show: (_, { owner, part }) => showGeoRule(owner.uid, part),
})

const list = rules.route('GET /api/v1/pools/{poolId}/georules', {
  needs: 'geo:read',
  summary: 'The geo rules of a pool, in the order of its file',
  query: Paging,
  responses: { 200: { description: 'Geo rules', schema: Type.Array(GeoRule) } },
  ports: ['config'],
  handle: (context) => {
    const pool = findObject(context, 'Pool', context.params.poolId)
    if (pool === undefined) return missing('pool')
    return pageInOrder(partsIn('GeoRule', pool), context.query, (rule) =>
      showGeoRule(pool.uid, rule),
    )
  },
})

const create = rules.route('POST /api/v1/pools/{poolId}/georules', {
  needs: 'geo:write',
  licensed: 'geo-rules',
  summary: 'Send the clients of one network to one member (tier pro)',
  body: NewGeoRule,
  responses: { 201: rules.one },
  ifMatch: 'the pool',
  ports: ['config', 'configWriter', 'clock', 'log'],
  handle: async (context) => {
    const { caller, params, body } = context
    const pool = findObject(context, 'Pool', params.poolId)
    if (pool === undefined) return missing('pool')
    const condition = preconditionOf(context, pool.object)
    if (!condition.ok) return condition.error
    const now = unixSeconds(context.ports.clock.nowMs())
    const done = await write(context, {
      verb: 'create',
      kind: 'GeoRule',
      owner: targetOf(caller, pool.uid),
      spec: { ...normalRule(body), createdAt: now, updatedAt: now },
      ...condition.value,
    })
    return rules.created(context, done)
  },
})

const replace = rules.change('PUT', {
  licensed: 'geo-rules',
  summary: 'Replace a geo rule (tier pro)',
  body: GeoRuleChange,
  ports: ['clock'],
  operations: (context, found, on) => {
    const fields = normalRule(context.body)
    const time = isSame(found, fields)
      ? {}
      : { updatedAt: unixSeconds(context.ports.clock.nowMs()) }
    return [{ verb: 'update', ...on, patch: { ...fields, ...time } }]
  },
})

const removeRule = rules.remove({ summary: 'Delete a geo rule' })

/** A change without effect must not update the rule's time, which would make a commit. */
function isSame(
  { part }: ConfigPart<'GeoRule'>,
  fields: { readonly cidr: string; readonly endpoint: string; readonly priority: number },
): boolean {
  const { cidr, endpoint, priority } = fields
  const isHere = part.cidr === cidr && canonical(part.endpoint) === endpoint
  return isHere && part.priority === priority
}

export const geoRuleRoutes = Object.freeze([list, create, replace, removeRule])
