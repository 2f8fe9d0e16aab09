// /api/v1/maintenance-windows: times in which members are out of rotation.
import { Type } from 'typebox'
import type { ConfigEntry } from '#config/entry.ts'
import type { Operation } from '#config/operation.ts'
import { uuidV7 } from '#lib/uuid.ts'
import { findObject, findPart, listObjects, targetOf } from '#api/config/reads.ts'
import { remove, write, writeRefusals } from '#api/config/writes.ts'
import { preconditionOf } from '#api/route/if-match.ts'
import { NamedPaging, pageByName } from '#http/paging.ts'
import { created, invalid, missing } from '#http/reply.ts'
import {
  MaintenanceWindow,
  NewMaintenanceWindow,
  membersOf,
  showWindow,
  statusOf,
} from '../resources/maintenance-window.ts'
import { route } from '#api/route/route.ts'
import type { Route, RouteContext } from '#api/route/route.ts'
import { Id } from '#http/shapes.ts'

const tag = 'Maintenance windows'
type Entry = ConfigEntry<'MaintenanceWindow'>

const create = route({
  method: 'POST',
  path: '/api/v1/maintenance-windows',
  needs: 'maintenance:write',
  tag,
  summary: 'Take a member, or each member of a pool, out of rotation for a time',
  body: NewMaintenanceWindow,
  responses: { 201: { description: 'The window', schema: MaintenanceWindow, isTagged: true } },
  refusals: writeRefusals,
  handle: async (context) => {
    const { resourceType, resourceId, startAt, endAt } = context.body
    const found = resourceNamed(context, resourceType, resourceId)
    if (found === undefined) return invalid('resourceId', `there is no such ${resourceType}`)
    const uid = uuidV7(context.ports.clock.nowMs())
    const done = await write(context, {
      verb: 'create',
      kind: 'MaintenanceWindow',
      tenant: found.tenant,
      name: `window-${uid}`,
      uid,
      spec: { resourceType, resource: found.uid, startAt, endAt },
    })
    if (!done.ok) return done.error
    return created(shown(context, done.value.entry as Entry), done.value.headers)
  },
})

function resourceNamed(
  context: Pick<RouteContext, 'caller' | 'ports'>,
  type: 'pool' | 'member',
  ref: string,
): { readonly tenant: string; readonly uid: string } | undefined {
  if (type === 'pool') return findObject(context, 'Pool', ref)
  const found = findPart(context, 'Member', ref)
  return found && { tenant: found.owner.tenant, uid: found.part.uid }
}

const list = route({
  method: 'GET',
  path: '/api/v1/maintenance-windows',
  needs: 'maintenance:read',
  tag,
  summary: 'All maintenance windows, by name',
  query: NamedPaging,
  responses: { 200: { description: 'Windows', schema: Type.Array(MaintenanceWindow) } },
  handle: (context) =>
    pageByName(listObjects(context, 'MaintenanceWindow'), context.query, (entry) =>
      shown(context, entry),
    ),
})

const cancel = route({
  method: 'DELETE',
  path: '/api/v1/maintenance-windows/{id}',
  needs: 'maintenance:write',
  tag,
  summary: 'Cancel a window; the members of an active one are disabled from then on',
  params: Id,
  responses: { 204: { description: 'It is gone', schema: null } },
  ifMatch: 'the window',
  refusals: [404, ...writeRefusals],
  handle: async (context) => {
    const { caller, ports, params } = context
    const entry = findObject(context, 'MaintenanceWindow', params.id)
    if (entry === undefined) return missing('maintenance window')
    const condition = preconditionOf(context, entry.object)
    if (!condition.ok) return condition.error
    const isActive = statusOf(entry, ports.clock.nowMs()) === 'active'
    const kept = isActive ? stayOut(context, entry) : []
    const target = targetOf(caller, entry.uid)
    const deletion = { verb: 'delete', kind: 'MaintenanceWindow', target } as const
    return remove(context, ...kept, { ...deletion, ...condition.value })
  },
})

/** Cancelled, not rolled back: who is out stays out until somebody enables it. */
function stayOut(
  { caller, ports }: Pick<RouteContext, 'caller' | 'ports'>,
  entry: Entry,
): readonly Operation[] {
  const snapshot = ports.config.snapshot()
  const members = membersOf(snapshot, entry).map(({ uid }) => uid)
  const pool = snapshot.part('Member', members[0] ?? '')?.owner
  if (pool === undefined) return []
  return [{ verb: 'disable-members', kind: 'Pool', target: targetOf(caller, pool.uid), members }]
}

function shown({ ports }: Pick<RouteContext, 'ports'>, entry: Entry) {
  return showWindow(ports.config.snapshot(), entry, ports.clock.nowMs())
}

export const maintenanceWindowRoutes: readonly Route[] = Object.freeze([create, list, cancel])
