// Defines the caller of a request: who authenticated, and what that caller may see.
import { defaultTenant } from '#schemas/objects/tenant.ts'
import type { Permission } from './permissions.ts'

/**
 * `system`: the system API key, or a tenant_admin of `default`. `user`: a session. `tenant`: a
 * tenant's API key. `dev`: anybody, because GSLB_API_KEY is not set.
 */
type CallerKind = 'system' | 'user' | 'tenant' | 'dev'

export interface Caller {
  readonly kind: CallerKind
  /** Tenant of new objects, and of all that it sees unless `isSystemAdmin`. */
  readonly tenant: string
  /** null: the credential belongs to no user. */
  readonly userId: string | null
  /** Address of the user; left out: as `displayName`. */
  readonly email?: string
  /** Name that the user chose; left out: unknown, or no user. */
  readonly displayName?: string
  /** null: the credential belongs to no user. */
  readonly role: string | null
  readonly permissions: ReadonlySet<Permission>
  /** True: all permissions are granted, and all tenants are visible. */
  readonly isSystemAdmin: boolean
  /** SHA-256 of the session token in hex; null: the credential is no session. */
  readonly sessionHash: string | null
  /** SHA-256 of the tenant's API key in hex; null: the credential is no such key. */
  readonly keyHash: string | null
}

/** The role that may do everything, everywhere. */
export const systemAdministrator = { tenantId: defaultTenant, role: 'tenant_admin' } as const

export function isSystemAdministrator(tenantId: string, role: string): boolean {
  return tenantId === systemAdministrator.tenantId && role === systemAdministrator.role
}

/** The fields on which visibility depends. */
export type Viewer = Pick<Caller, 'tenant' | 'isSystemAdmin'>

/** The tenant whose objects the caller may see; null: all. */
export function visibleTenant(caller: Viewer): string | null {
  return caller.isSystemAdmin ? null : caller.tenant
}

/** Objects of other tenants are 404, as if they did not exist. */
export function sees(caller: Viewer, tenant: string): boolean {
  return caller.isSystemAdmin || caller.tenant === tenant
}

/** Whether the file of the repository is of the caller's tenant. @param path such as `tenants/…` */
export function seesFile(caller: Viewer, path: string): boolean {
  return caller.isSystemAdmin || path.startsWith(`tenants/${caller.tenant}/`)
}

/** Whether a permission, or being system administrator, lets the caller see it. */
export function maySee(caller: Caller, permission: Permission): boolean {
  return caller.isSystemAdmin || caller.permissions.has(permission)
}

/** Fields of a log line: the account, or the kind of key. */
export function whoFields(caller: Pick<Caller, 'userId' | 'email' | 'kind' | 'tenant'>): object {
  const { userId, email = '' } = caller
  return userId === null ? { actor: actorOf(caller) } : { userId, userEmail: email }
}

/** Names the caller in commits and logs by id: without name, address or secret. */
export function actorOf(caller: Pick<Caller, 'userId' | 'kind' | 'tenant'>): string {
  if (caller.userId !== null) return `user:${caller.userId}`
  return caller.kind === 'tenant' ? `tenant:${caller.tenant}` : caller.kind
}
