// /api/v1/maintenance-windows: times in which members are out of rotation.
import type { ConfigEntry } from '#config/entry.ts'
import type { Operation } from '#config/operation.ts'
import { uuidV7 } from '#lib/uuid.ts'
import { objectRoutes } from '#api/config/object-routes.ts'
import { findObject, findPart, targetOf } from '#api/config/reads.ts'
import { invalid } from '#http/reply.ts'
import {
  MaintenanceWindow,
  NewMaintenanceWindow,
  membersOf,
  showWindow,
  statusOf,
} from '../resources/maintenance-window.ts'
import type { RouteContext } from '#api/route/route.ts'

type Entry = ConfigEntry<'MaintenanceWindow'>

const windows = objectRoutes({
  kind: 'MaintenanceWindow',
  path: '/api/v1/maintenance-windows',
  tag: 'Maintenance windows',
  noun: 'window',
  absent: 'maintenance window',
  reads: 'maintenance:read',
  writes: 'maintenance:write',
  schema: MaintenanceWindow,
  ports: ['config', 'clock'],
  show: ({ ports }, entry) => showWindow(ports.config.snapshot(), entry, ports.clock.nowMs()),
})

const create = windows.create({
  summary: 'Take a member, or each member of a pool, out of rotation for a time',
  body: NewMaintenanceWindow,
  operation: (context) => {
    const { resourceType, resourceId, startAt, endAt } = context.body
    const found = resourceNamed(context, resourceType, resourceId)
    if (found === undefined) return invalid('resourceId', `there is no such ${resourceType}`)
    const uid = uuidV7(context.ports.clock.nowMs())
    return {
      verb: 'create',
      kind: 'MaintenanceWindow',
      tenant: found.tenant,
      name: `window-${uid}`,
      uid,
      spec: { resourceType, resource: found.uid, startAt, endAt },
    }
  },
})

function resourceNamed(
  context: Pick<RouteContext<'config'>, 'caller' | 'ports'>,
  type: 'pool' | 'member',
  ref: string,
): { readonly tenant: string; readonly uid: string } | undefined {
  if (type === 'pool') return findObject(context, 'Pool', ref)
  const found = findPart(context, 'Member', ref)
  return found && { tenant: found.owner.tenant, uid: found.part.uid }
}

const cancel = windows.remove({
  summary: 'Cancel a window; the members of an active one are disabled from then on',
  first: stayOut,
})

/** Cancelling is no rollback: members that are out stay out until somebody enables them. */
function stayOut(
  { caller, ports }: Pick<RouteContext<'config' | 'clock'>, 'caller' | 'ports'>,
  entry: Entry,
): readonly Operation[] {
  if (statusOf(entry, ports.clock.nowMs()) !== 'active') return []
  const snapshot = ports.config.snapshot()
  const members = membersOf(snapshot, entry).map(({ uid }) => uid)
  const pool = snapshot.part('Member', members[0] ?? '')?.owner
  if (pool === undefined) return []
  return [{ verb: 'disable-members', kind: 'Pool', target: targetOf(caller, pool.uid), members }]
}

export const maintenanceWindowRoutes = Object.freeze([create, windows.list('Windows'), cancel])
