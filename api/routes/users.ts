// /api/v1/users: the accounts of a tenant.
import { Type } from '#lib/schema/type.ts'
import { uuidV7 } from '#lib/uuid.ts'
import type { Role } from '#state/ports/roles.ts'
import type { StoreFailure } from '#state/ports/store-result.ts'
import type { User, UserChange } from '#state/ports/users.ts'
import { busy } from '#access/auth/login.ts'
import { passwordFault } from '#access/auth/passwords.ts'
import { systemAdministrator } from '#access/caller.ts'
import type { Caller } from '#access/caller.ts'
import { mayHandle, scopeOf } from '#access/grants.ts'
import type { Ports } from '#ports/ports.ts'
import { created, invalid, missing, noContent, refused, success } from '#http/reply.ts'
import type { Reply } from '#http/reply.ts'
import { routesOf } from '#api/route/route.ts'
import { closed } from '#http/shapes.ts'
import { storeFailed, storedList, storedOne } from '#http/store-reply.ts'
import { tenantPresence, unreadReply } from '#access/unread.ts'
import {
  DisplayName,
  Email,
  NewPassword,
  RoleName,
  UserJson,
  toUserJson,
} from '#access/auth/user-json.ts'

const route = routesOf({ tag: 'Users', withoutConfig: true })

const list = route('GET /api/v1/users', {
  needs: 'user:read',
  summary: 'The accounts of the tenant, oldest first',
  responses: { 200: { description: 'Accounts', schema: Type.Array(UserJson) } },
  ports: ['users'],
  handle: async ({ caller, ports }) => {
    return storedList(await ports.users.list(scopeOf(caller)), toUserJson)
  },
})

const otherTenant =
  'admin access required: only a system administrator makes accounts of another tenant; leave ' +
  'tenantId out'

const create = route('POST /api/v1/users', {
  needs: 'user:write',
  summary: 'Create an account that logs in with a password',
  body: closed({
    email: Email,
    displayName: Type.Optional(Type.Unsafe<string>({ ...DisplayName, default: '' })),
    password: NewPassword,
    role: RoleName,
    tenantId: Type.Optional(
      Type.String({ maxLength: 255, description: 'For system administrators. Default: their own' }),
    ),
  }),
  responses: { 201: { description: 'The account', schema: UserJson } },
  refusals: [409],
  ports: ['view', 'config', 'passwords', 'users', 'roles', 'tenants', 'clock'],
  handle: async ({ caller, ports, body }) => {
    const { email, displayName = '', password, role: roleName } = body
    const tenantId = body.tenantId ?? caller.tenant
    const isOther = tenantId !== caller.tenant
    if (isOther && !caller.isSystemAdmin) return refused(403, otherTenant)
    const presence = isOther ? tenantPresence(ports, tenantId) : 'there'
    if (presence === 'unread') return unreadReply(ports, caller)
    if (presence === 'gone') return invalid('tenantId', 'there is no such tenant')
    const fault = passwordFault(password)
    if (fault !== undefined) return invalid('password', fault)
    const role = await roleToGive(caller, ports, tenantId, roleName)
    if ('status' in role) return role
    const hash = await ports.passwords.hash(password)
    if (!hash.ok) return busy
    const nowMs = ports.clock.nowMs()
    const user = await ports.users.create({
      id: uuidV7(nowMs),
      email,
      displayName,
      role: role.name,
      tenantId,
      authProvider: 'password',
      passwordHash: hash.value,
      createdAtMs: nowMs,
    })
    if (user.ok) return created(toUserJson(user.value))
    if (user.error.code === 'email-taken') return refused(409, 'email: is in use')
    if (user.error.code === 'too-many-users') return refused(409, user.error.message)
    return storeFailed(user.error)
  },
})

const get = route('GET /api/v1/users/{id}', {
  needs: 'user:read',
  summary: 'One account',
  responses: { 200: { description: 'The account', schema: UserJson } },
  ports: ['users'],
  handle: async ({ caller, ports, params }) => {
    return storedOne(await ports.users.find(scopeOf(caller), params.id), 'user', toUserJson)
  },
})

const update = route('PUT /api/v1/users/{id}', {
  needs: 'user:write',
  summary: 'Change an account; what is absent stays, but TOTP of others is cleared',
  body: closed({
    displayName: Type.Optional(DisplayName),
    role: Type.Optional(RoleName),
    password: Type.Optional(NewPassword),
  }),
  responses: { 200: { description: 'The account', schema: UserJson } },
  refusals: [409],
  ports: ['identities', 'passwords', 'users', 'roles', 'sessions', 'clock'],
  handle: async ({ caller, ports, params, body }) => {
    const user = await accountToChange(caller, ports, params.id)
    if ('status' in user) return user
    const change = await changeOf(caller, ports, user, body)
    if ('status' in change) return change
    const { users } = ports
    const mayTake = change.role !== undefined && change.role !== systemAdministrator.role
    const saved =
      mayTake && !mayEndAdministration(caller)
        ? await users.updateUnlessLast(scopeOf(caller), user.id, change, systemAdministrator)
        : await users.update(scopeOf(caller), user.id, change)
    if (!saved.ok) return notChanged(saved.error, 'role: ')
    if (saved.value === null) return missing('user')
    ports.identities.forget()
    if (change.passwordHash !== undefined) {
      // Sessions that were opened with the old password end.
      const revoked = await ports.sessions.revokeUser(user.id)
      if (!revoked.ok) return storeFailed(revoked.error)
    }
    const isCleared = user.totp?.active === true && saved.value.totp === null
    const note = `the second factor of ${saved.value.id} was cleared`
    return { ...success(toUserJson(saved.value)), ...(isCleared ? { noted: { note } } : {}) }
  },
})

const remove = route('DELETE /api/v1/users/{id}', {
  needs: 'user:delete',
  summary: 'Delete an account and end its sessions',
  responses: { 204: { description: 'It is gone', schema: null } },
  refusals: [409],
  ports: ['identities', 'users', 'roles', 'sessions'],
  handle: async ({ caller, ports, params }) => {
    if (params.id === caller.userId) return refused(403, 'nobody can delete their own account')
    const user = await accountToChange(caller, ports, params.id)
    if ('status' in user) return user
    const { users } = ports
    const deleted = mayEndAdministration(caller)
      ? await users.delete(scopeOf(caller), user.id)
      : await users.deleteUnlessLast(scopeOf(caller), user.id, systemAdministrator)
    if (!deleted.ok) return notChanged(deleted.error, '')
    ports.identities.forget()
    const revoked = await ports.sessions.revokeUser(user.id)
    if (!revoked.ok) return storeFailed(revoked.error)
    return deleted.value ? noContent() : missing('user')
  },
})

interface UserBody {
  readonly displayName?: string
  readonly role?: string
  readonly password?: string
}

async function changeOf(
  caller: Caller,
  ports: Ports<'passwords' | 'roles' | 'clock'>,
  user: User,
  { displayName, role, password }: UserBody,
): Promise<UserChange | Reply> {
  const given =
    role === undefined ? undefined : await roleToGive(caller, ports, user.tenantId, role)
  if (given !== undefined && 'status' in given) return given
  let passwordHash: string | undefined
  if (password !== undefined) {
    if (user.authProvider === 'oidc') {
      return refused(409, 'password: this account logs in through the identity provider')
    }
    const fault = passwordFault(password)
    if (fault !== undefined) return invalid('password', fault)
    const hash = await ports.passwords.hash(password)
    if (!hash.ok) return busy
    passwordHash = hash.value
  }
  return {
    ...(displayName === undefined ? {} : { displayName }),
    ...(given === undefined ? {} : { role: given.name }),
    ...(passwordHash === undefined ? {} : { passwordHash }),
    ...(user.id === caller.userId ? {} : { totp: null }),
    updatedAtMs: ports.clock.nowMs(),
  }
}

/** The system key, which has no account, can make a new administrator at any time. */
const mayEndAdministration = (caller: Caller): boolean => caller.userId === null

/** @param place first words of the message: the field that is wrong, if it is one */
function notChanged(failure: StoreFailure<'last-of-role'>, place: string): Reply {
  if (failure.code !== 'last-of-role') return storeFailed(failure)
  return refused(
    409,
    `${place}this is the last system administrator; first give another account of the tenant ` +
      'default the role tenant_admin',
  )
}

async function accountToChange(
  caller: Caller,
  { users, roles }: Ports<'users' | 'roles'>,
  id: string,
): Promise<User | Reply> {
  const user = await users.find(scopeOf(caller), id)
  if (!user.ok) return storeFailed(user.error)
  if (user.value === null) return missing('user')
  const role = await roles.findByName(user.value.tenantId, user.value.role)
  if (!role.ok) return storeFailed(role.error)
  if (role.value !== null && !mayHandle(caller, user.value.tenantId, role.value)) {
    return refused(403, 'permission denied: this account may do more than yours')
  }
  return user.value
}

async function roleToGive(
  caller: Caller,
  { roles }: Ports<'roles'>,
  tenantId: string,
  name: string,
): Promise<Role | Reply> {
  const role = await roles.findByName(tenantId, name)
  if (!role.ok) return storeFailed(role.error)
  if (role.value === null) return invalid('role', 'there is no such role')
  if (mayHandle(caller, tenantId, role.value)) return role.value
  return refused(403, 'permission denied: this role may do more than your account')
}

export const userRoutes = Object.freeze([list, create, get, update, remove])
