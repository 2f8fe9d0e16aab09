// The port to roles: named sets of permissions.
import type { StoreCall } from './store-result.ts'
import type { TenantScope } from './tenant-scope.ts'

export interface Role {
  readonly id: string
  readonly name: string
  /** Sorted, each once. */
  readonly permissions: readonly string[]
  readonly isSystem: boolean
  /** null: a built-in role, which every tenant has. */
  readonly tenantId: string | null
  readonly createdAtMs: number
  readonly updatedAtMs: number
}

export interface NewRole {
  readonly id: string
  readonly name: string
  readonly permissions: readonly string[]
  readonly tenantId: string
  readonly createdAtMs: number
}

export interface SystemRole {
  readonly name: string
  readonly permissions: readonly string[]
}

export const roleLimits = { perTenantMax: 1_000, permissionsMax: 200 } as const

export interface Roles {
  /**
   * Updates the built-in roles to this program: creates missing roles, with the name as id, and
   * adds permissions that are new in the program. Additions and removals by people stay.
   */
  readonly ensureSystem: (roles: readonly SystemRole[], nowMs: number) => StoreCall<void>
  readonly create: (role: NewRole) => StoreCall<Role, 'name-taken' | 'too-many-roles'>
  /** The scope's own roles and the built-in ones, built-in ones first, then by name. */
  readonly list: (scope: TenantScope) => StoreCall<readonly Role[]>
  readonly find: (scope: TenantScope, id: string) => StoreCall<Role | null>
  /** The role of this name for a user of `tenantId`. */
  readonly findByName: (tenantId: string, name: string) => StoreCall<Role | null>
  /** @returns null: no such role in the scope. Built-in roles change in every-tenant scope only. */
  readonly setPermissions: (
    scope: TenantScope,
    id: string,
    permissions: readonly string[],
    nowMs: number,
  ) => StoreCall<Role | null>
  /** `role-in-use`: a user of the tenant has it. @returns whether it existed */
  readonly delete: (
    scope: TenantScope,
    id: string,
  ) => StoreCall<boolean, 'system-role' | 'role-in-use'>
}
