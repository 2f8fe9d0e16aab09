// Prevents escalation: nobody grants, or takes over, more permissions than they have.
import type { Role } from '#state/ports/roles.ts'
import type { TenantScope } from '#state/ports/tenant-scope.ts'
import { isSystemAdministrator, visibleTenant } from './caller.ts'
import type { Caller } from './caller.ts'
import { isPermission } from './permissions.ts'

export function scopeOf(caller: Caller): TenantScope {
  const tenantId = visibleTenant(caller)
  return tenantId === null ? 'every-tenant' : { tenantId }
}

export function holdsAll(caller: Caller, permissions: readonly string[]): boolean {
  if (caller.isSystemAdmin) return true
  return permissions.every((atom) => !isPermission(atom) || caller.permissions.has(atom))
}

/** Whether the caller may give this role, or change an account that has it. */
export function mayHandle(caller: Caller, tenantId: string, role: Role): boolean {
  const isSystemRole = isSystemAdministrator(tenantId, role.name)
  return caller.isSystemAdmin || (!isSystemRole && holdsAll(caller, role.permissions))
}
