// /api/v1/roles: the built-in roles, and the tenant's own.
import { Type } from '#lib/schema/type.ts'
import { suggest } from '#lib/suggest.ts'
import { uuidV7 } from '#lib/uuid.ts'
import { roleLimits } from '#state/ports/roles.ts'
import type { Role } from '#state/ports/roles.ts'
import type { Caller } from '#access/caller.ts'
import type { Ports } from '#ports/ports.ts'
import { holdsAll, scopeOf } from '#access/grants.ts'
import { isPermission, permissions as atoms } from '#access/permissions.ts'
import { Name, named } from '#http/paging.ts'
import { created, invalid, missing, noContent, refused, success } from '#http/reply.ts'
import type { Reply } from '#http/reply.ts'
import { routesOf } from '#api/route/route.ts'
import { closed, nullable, unixSeconds, UnixSeconds } from '#http/shapes.ts'
import { storeFailed, storedOne } from '#http/store-reply.ts'
import { RoleName } from '#access/auth/user-json.ts'

const route = routesOf({ tag: 'Roles', withoutConfig: true })

const RoleJson = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    permissions: Type.Array(Type.String()),
    isSystem: Type.Boolean({ description: 'Built in: cannot be deleted' }),
    tenantId: nullable(Type.String({ description: 'null: every tenant has it' })),
    createdAt: UnixSeconds,
    updatedAt: UnixSeconds,
  },
  { title: 'Role' },
)

const Permissions = Type.Array(Type.String({ maxLength: 64 }), {
  maxItems: roleLimits.permissionsMax,
})

const list = route('GET /api/v1/roles', {
  needs: 'role:read',
  summary: "The built-in roles and the tenant's own",
  query: Name,
  responses: { 200: { description: 'Roles', schema: Type.Array(RoleJson) } },
  ports: ['roles'],
  handle: async ({ caller, ports, query }) => {
    const roles = await ports.roles.list(scopeOf(caller))
    if (!roles.ok) return storeFailed(roles.error)
    return success(named(roles.value, query).map(toRoleJson))
  },
})

const create = route('POST /api/v1/roles', {
  needs: 'role:write',
  licensed: 'custom-roles',
  summary: 'Create a role of the tenant (enterprise tier)',
  body: closed({ name: RoleName, permissions: Permissions }),
  responses: { 201: { description: 'The role', schema: RoleJson } },
  refusals: [409],
  ports: ['roles', 'clock'],
  handle: async ({ caller, ports, body: { name, permissions } }) => {
    const fault = permissionsFault(caller, permissions)
    if (fault !== null) return fault
    const nowMs = ports.clock.nowMs()
    const role = await ports.roles.create({
      id: uuidV7(nowMs),
      name,
      permissions,
      tenantId: caller.tenant,
      createdAtMs: nowMs,
    })
    if (role.ok) return created(toRoleJson(role.value))
    if (role.error.code === 'name-taken') return refused(409, 'name: is in use')
    if (role.error.code === 'too-many-roles') return refused(409, role.error.message)
    return storeFailed(role.error)
  },
})

const get = route('GET /api/v1/roles/{id}', {
  needs: 'role:read',
  summary: 'One role',
  responses: { 200: { description: 'The role', schema: RoleJson } },
  ports: ['roles'],
  handle: async ({ caller, ports, params }) => {
    return storedOne(await ports.roles.find(scopeOf(caller), params.id), 'role', toRoleJson)
  },
})

const update = route('PUT /api/v1/roles/{id}', {
  needs: 'role:write',
  summary: 'Replace the permissions of a role',
  body: closed({ permissions: Permissions }),
  responses: { 200: { description: 'The role', schema: RoleJson } },
  ports: ['identities', 'roles', 'licence', 'clock'],
  handle: async ({ caller, ports, params, body: { permissions } }) => {
    const found = await ports.roles.find(scopeOf(caller), params.id)
    if (!found.ok) return storeFailed(found.error)
    if (found.value === null) return missing('role')
    if (found.value.isSystem && !caller.isSystemAdmin) {
      return refused(403, 'admin access required: every tenant has this role')
    }
    if (!found.value.isSystem) {
      const refusal = ports.licence.refusal('custom-roles')
      if (refusal !== undefined) return refused(403, refusal)
    }
    // Not even to remove a permission: a caller may not change a role above its own.
    if (!holdsAll(caller, found.value.permissions)) return tooMuch
    const fault = permissionsFault(caller, permissions)
    if (fault !== null) return fault
    const nowMs = ports.clock.nowMs()
    const role = await ports.roles.setPermissions(scopeOf(caller), params.id, permissions, nowMs)
    if (!role.ok) return storeFailed(role.error)
    ports.identities.forget()
    return role.value === null ? missing('role') : success(toRoleJson(role.value))
  },
})

const remove = route('DELETE /api/v1/roles/{id}', {
  needs: 'role:write',
  summary: 'Delete a role that nobody has',
  responses: { 204: { description: 'It is gone', schema: null } },
  refusals: [409],
  ports: ['users', 'roles'],
  handle: async ({ caller, ports, params }) => {
    const deleted = await ports.roles.delete(scopeOf(caller), params.id)
    if (deleted.ok) return deleted.value ? noContent() : missing('role')
    if (deleted.error.code === 'system-role') return refused(403, 'system roles cannot be deleted')
    if (deleted.error.code === 'role-in-use') return inUse(caller, ports, params.id)
    return storeFailed(deleted.error)
  },
})

const namedMax = 5

/** Names the holders of the role to callers who may see accounts. */
async function inUse(caller: Caller, ports: Ports<'users' | 'roles'>, id: string): Promise<Reply> {
  const said = 'accounts have this role; give them another one first'
  if (!caller.isSystemAdmin && !caller.permissions.has('user:read')) return refused(409, said)
  const scope = scopeOf(caller)
  const role = await ports.roles.find(scope, id)
  if (!role.ok) return storeFailed(role.error)
  const users = await ports.users.list(scope)
  if (!users.ok) return storeFailed(users.error)
  const emails = users.value
    .filter((user) => user.role === role.value?.name && user.tenantId === role.value.tenantId)
    .map(({ email }) => email)
    .toSorted()
  const more = emails.length > namedMax ? [`${emails.length - namedMax} more`] : []
  const named = [...emails.slice(0, namedMax), ...more].join(', ')
  // The accounts may have been removed meanwhile.
  return refused(409, named === '' ? said : `${said}: ${named}`)
}

const tooMuch = refused(403, 'permission denied: this role may do more than your account')

function permissionsFault(caller: Caller, permissions: readonly string[]): Reply | null {
  for (const [i, atom] of permissions.entries()) {
    if (isPermission(atom)) continue
    const near = suggest(atom, atoms)
    const hint = near === undefined ? '' : `; did you mean "${near}"?`
    return invalid(`permissions.${i}`, `there is no such permission${hint}`)
  }
  return holdsAll(caller, permissions) ? null : tooMuch
}

function toRoleJson({ createdAtMs, updatedAtMs, ...role }: Role) {
  return {
    ...role,
    createdAt: unixSeconds(createdAtMs),
    updatedAt: unixSeconds(updatedAtMs),
  }
}

export const roleRoutes = Object.freeze([list, create, get, update, remove])
