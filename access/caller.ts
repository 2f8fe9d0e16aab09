// The caller of a request: who authenticated, and what that caller may see.
import { defaultTenant } from '#schemas/objects/tenant.ts'
import type { Permission } from './permissions.ts'

/**
 * `system`: the system API key, or a tenant_admin of the tenant `default`. `user`: a session.
 * `tenant`: a tenant API key. `dev`: anybody, because GSLB_API_KEY is not set.
 */
export type CallerKind = 'system' | 'user' | 'tenant' | 'dev'

export interface Caller {
  readonly kind: CallerKind
  /** Where its objects are created, and all that it sees unless `isSystemAdmin`. */
  readonly tenant: string
  /** null: no user stands behind the credential. */
  readonly userId: string | null
  /** The name of the user; left out: as `displayName`. */
  readonly email?: string
  /** As the user wants to be called; left out: not known, or no user. */
  readonly displayName?: string
  /** null: as `userId`. */
  readonly role: string | null
  readonly permissions: ReadonlySet<Permission>
  /** All checks of permissions pass, and all tenants are visible. */
  readonly isSystemAdmin: boolean
  /** SHA-256, hex, of the session token; null: the credential is no session. */
  readonly sessionHash: string | null
  /** SHA-256, hex, of the tenant API key; null: the credential is no such key. */
  readonly keyHash: string | null
}

/** The role of the accounts that may do everything, everywhere. */
export const systemAdministrator = { tenantId: defaultTenant, role: 'tenant_admin' } as const

export function isSystemAdministrator(tenantId: string, role: string): boolean {
  return tenantId === systemAdministrator.tenantId && role === systemAdministrator.role
}

/** As much of a caller as what it sees depends on. */
export type Viewer = Pick<Caller, 'tenant' | 'isSystemAdmin'>

/** The tenant whose objects the caller may see; null: all. */
export function visibleTenant(caller: Viewer): string | null {
  return caller.isSystemAdmin ? null : caller.tenant
}

/** Another tenant's object is 404, as if it did not exist. */
export function sees(caller: Viewer, tenant: string): boolean {
  return caller.isSystemAdmin || caller.tenant === tenant
}

/** Whether a permission, or the rank of a system administrator, lets the caller see it. */
export function maySee(caller: Caller, permission: Permission): boolean {
  return caller.isSystemAdmin || caller.permissions.has(permission)
}

/** Fields of a log line: the account behind a call, else what kind of key it had. */
export function whoFields(caller: Pick<Caller, 'userId' | 'email' | 'kind' | 'tenant'>): object {
  const { userId, email = '' } = caller
  return userId === null ? { actor: actorOf(caller) } : { userId, userEmail: email }
}

/** Names the caller in commits and logs: no name, no address, no secret. */
export function actorOf(caller: Pick<Caller, 'userId' | 'kind' | 'tenant'>): string {
  if (caller.userId !== null) return `user:${caller.userId}`
  return caller.kind === 'tenant' ? `tenant:${caller.tenant}` : caller.kind
}
