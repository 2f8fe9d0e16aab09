// Lists the permissions, and those of the built-in roles.

/** Every permission, as roles name it. */
export const permissions = [
  ...(['pool', 'member', 'service', 'hc', 'geo', 'user', 'tenant'] as const).flatMap(
    (resource) => [`${resource}:read`, `${resource}:write`, `${resource}:delete`] as const,
  ),
  'role:read',
  'role:write',
  'usage:read_own',
  'usage:read_any',
  'cluster:status',
  'cluster:restart',
  'snapshot:read',
  'dnssec:read',
  'dnssec:write',
  'domain:read',
  'domain:write',
  'record:read',
  'record:write',
  'txt:read',
  'txt:write',
  'tsig:read',
  'tsig:write',
  'redirect:read',
  'redirect:write',
  'license:read',
  'license:write',
  'bgp:status',
  'rrl:read',
  'rrl:write',
  'rpz:read',
  'rpz:write',
  'alert:read',
  'alert:write',
  'history:read',
  'history:write',
  'scripts:write',
  'settings:read',
  'settings:write',
  'rollout:read',
  'rollout:write',
  'maintenance:read',
  'maintenance:write',
  'delivery:read',
  'delivery:write',
] as const
export type Permission = (typeof permissions)[number]

const known: ReadonlySet<string> = new Set(permissions)
export function isPermission(text: string): text is Permission {
  return known.has(text)
}

/** Permissions that affect the whole node or all tenants: no role of a tenant has them. */
const systemOnly: ReadonlySet<Permission> = new Set<Permission>([
  'tenant:read',
  'tenant:write',
  'tenant:delete',
  'usage:read_any',
  'cluster:restart',
  'rrl:write',
  'rpz:read',
  'rpz:write',
  'settings:write',
  'delivery:write',
])

export const builtInRoleNames = ['tenant_admin', 'operator', 'viewer'] as const
export type BuiltInRole = (typeof builtInRoleNames)[number]

/**
 * An operator deletes what it writes; every role reads the node's state; writes that outlive a
 * service (zone keys, licence, roles, history) are the tenant administrator's.
 */
export const builtInRoles: Readonly<Record<BuiltInRole, readonly Permission[]>> = Object.freeze({
  tenant_admin: permissions.filter((atom) => !systemOnly.has(atom)),
  operator: permissions.filter(isOperators),
  viewer: permissions.filter(isViewers),
})

function isOperators(atom: Permission): boolean {
  const [resource = '', verb = ''] = atom.split(':')
  if (systemOnly.has(atom)) return false
  const writes =
    'pool member service scripts hc geo domain record txt tsig redirect alert rollout maintenance'
  return verb === 'write' || verb === 'delete' ? writes.split(' ').includes(resource) : true
}

function isViewers(atom: Permission): boolean {
  const isRead = !atom.endsWith(':write') && !atom.endsWith(':delete')
  // The list of users is for operators and above.
  return isRead && !systemOnly.has(atom) && atom !== 'user:read'
}
