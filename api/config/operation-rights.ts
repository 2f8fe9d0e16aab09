// Says which permissions an operation needs whose request names no kind: those of the routes that
// write the kind.
import { maySee } from '#access/caller.ts'
import type { Caller } from '#access/caller.ts'
import { isPermission } from '#access/permissions.ts'
import type { Permission } from '#access/permissions.ts'
import type { Operation } from '#config/operation.ts'
import { refused } from '#http/reply.ts'
import type { Reply } from '#http/reply.ts'

/** By kind; a kind without one is in no request of a tenant but with the file that holds it. */
const resources: Readonly<Partial<Record<Operation['kind'], string>>> = Object.freeze({
  ...{ Pool: 'pool', Member: 'member', GeoRule: 'geo', Service: 'service' },
  ...{ Records: 'record', RecordSet: 'record', DelegatedDomain: 'domain', Redirect: 'redirect' },
  ...{ Rollout: 'rollout', MaintenanceWindow: 'maintenance' },
  ...{ ResponsePolicy: 'rpz', ResponseRule: 'rpz', ExemptNetwork: 'rrl' },
  ...{ Settings: 'settings', Tenant: 'tenant', Delivery: 'delivery' },
})

/** @returns 403 for the first operation that the caller could not ask for itself; null: it may */
export function operationsRefusal(caller: Caller, operations: readonly Operation[]): Reply | null {
  const missing = operations.flatMap(rightsFor).find((atom) => !maySee(caller, atom))
  return missing === undefined ? null : refused(403, `permission denied: this needs ${missing}`)
}

function rightsFor(operation: Operation): readonly Permission[] {
  const { kind, verb } = operation
  const resource = resources[kind]
  if (resource === undefined) return []
  const deletes = `${resource}:delete`
  const own = verb === 'delete' && isPermission(deletes) ? deletes : `${resource}:write`
  const atoms = kind === 'Pool' ? [own, ...rightsInside(operation)] : [own]
  return atoms.filter(isPermission)
}

/** The health check of a pool, and the parts of one that is made, have routes of their own. */
function rightsInside(operation: Operation): readonly string[] {
  if (operation.verb === 'update' && 'patch' in operation) {
    return 'healthCheck' in operation.patch ? ['hc:write'] : []
  }
  if (operation.verb !== 'create') return []
  const { healthCheck, members, geoRules } = operation.spec
  const isSome = (list: unknown): boolean => Array.isArray(list) && list.length > 0
  return [
    ...(healthCheck === undefined ? [] : ['hc:write']),
    ...(isSome(members) ? ['member:write'] : []),
    ...(isSome(geoRules) ? ['geo:write'] : []),
  ]
}
