// The port to user accounts.
import type { StoreCall } from './store-result.ts'
import type { TenantScope } from './tenant-scope.ts'

export type AuthProvider = 'password' | 'oidc'

export interface TotpState {
  /** AES-256-GCM under the key of the installation; the store never sees the secret. */
  readonly secretCiphertext: string
  /** False until the first code is confirmed. */
  readonly active: boolean
  /**
   * The 30-second step of the last accepted code; a code of this or an earlier step is a replay.
   */
  readonly lastUsedStep: number | null
}

export interface User {
  readonly id: string
  /** As written. Addresses that differ only in case are equal. */
  readonly email: string
  readonly displayName: string
  /** A role's name. */
  readonly role: string
  readonly tenantId: string
  readonly authProvider: AuthProvider
  /** null: no password, so no login with one. */
  readonly passwordHash: string | null
  /** null: never set up, or cleared. */
  readonly totp: TotpState | null
  /** Issuer, space and subject; null: not linked to the provider. */
  readonly oidcIdentity: string | null
  /** Unix epoch. */
  readonly createdAtMs: number
  readonly updatedAtMs: number
}

export interface NewUser {
  readonly id: string
  readonly email: string
  readonly displayName: string
  readonly role: string
  readonly tenantId: string
  readonly authProvider: AuthProvider
  readonly passwordHash: string | null
  /** Absent: null. */
  readonly oidcIdentity?: string
  readonly createdAtMs: number
}

/** Absent fields stay. `totp: null` clears it. */
export interface UserChange {
  readonly displayName?: string
  readonly role?: string
  readonly passwordHash?: string | null
  readonly totp?: TotpState | null
  readonly updatedAtMs: number
}

/** A role of a tenant that at least one account must keep. */
export interface KeptRole {
  readonly tenantId: string
  readonly role: string
}

/** The condition for a first account: none ever existed, or none is left. */
type FirstOf = 'all-time' | 'those-left'

/** The most accounts of one tenant, all of which one list returns. */
export const userLimits = { perTenantMax: 10_000, emailLengthMax: 254 } as const

export interface Users {
  /** `too-many-users`: the tenant has `perTenantMax` accounts. */
  readonly create: (user: NewUser) => StoreCall<User, 'email-taken' | 'too-many-users'>
  /** Creates the first account; of two simultaneous calls one wins. */
  readonly createFirst: (user: NewUser, firstOf: FirstOf) => StoreCall<User, 'not-first'>
  readonly find: (scope: TenantScope, id: string) => StoreCall<User | null>
  /** For a login, before the tenant is known. */
  readonly findByEmail: (email: string) => StoreCall<User | null>
  /** Oldest first. */
  readonly list: (scope: TenantScope) => StoreCall<readonly User[]>
  /** @returns null: there is no such account in the scope */
  readonly update: (scope: TenantScope, id: string, change: UserChange) => StoreCall<User | null>
  /**
   * Like `update`, for a change of the role. `last-of-role`: the account is the only one with the
   * role `kept`; of two simultaneous changes or deletions one account stays.
   */
  readonly updateUnlessLast: (
    scope: TenantScope,
    id: string,
    change: UserChange,
    kept: KeptRole,
  ) => StoreCall<User | null, 'last-of-role'>
  /** @returns whether it existed */
  readonly delete: (scope: TenantScope, id: string) => StoreCall<boolean>
  /** Like `delete`; `last-of-role` as above. */
  readonly deleteUnlessLast: (
    scope: TenantScope,
    id: string,
    kept: KeptRole,
  ) => StoreCall<boolean, 'last-of-role'>
  readonly hasAny: () => StoreCall<boolean>
  /** Whether an account exists or ever existed: once true, always true. */
  readonly hadAny: () => StoreCall<boolean>
  /**
   * @returns false: this or a later step was used already; of two simultaneous calls one gets true
   */
  readonly useTotpStep: (id: string, step: number) => StoreCall<boolean>
  /**
   * @returns whether the account is linked to that identity now; of two simultaneous calls one gets
   * true
   */
  readonly claimForOidc: (id: string, oidcIdentity: string) => StoreCall<boolean>
  /** Ciphertexts of active secrets, to check the key at start; at most `limit`. */
  readonly totpCiphertexts: (limit: number) => StoreCall<readonly string[]>
}

/** Normal form for comparison: Unicode NFC, lower case. */
export function emailKey(email: string): string {
  return email.trim().normalize('NFC').toLowerCase()
}
