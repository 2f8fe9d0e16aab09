// The port to user accounts.
import type { StoreCall } from './store-result.ts'
import type { TenantScope } from './tenant-scope.ts'

export type AuthProvider = 'password' | 'oidc'

export interface TotpState {
  /** AES-256-GCM under the key of the installation; the store never sees the secret. */
  readonly secretCiphertext: string
  /** False until the first code was confirmed. */
  readonly active: boolean
  /** The 30-second step of the last code that was taken; a code of it or before is a replay. */
  readonly lastUsedStep: number | null
}

export interface User {
  readonly id: string
  /** As it was written. Two addresses that differ in case only are the same one. */
  readonly email: string
  readonly displayName: string
  /** A role's name. */
  readonly role: string
  readonly tenantId: string
  readonly authProvider: AuthProvider
  /** null: no password, and so no login with one. */
  readonly passwordHash: string | null
  /** null: none was ever set up, or it was cleared. */
  readonly totp: TotpState | null
  /** Issuer, space and subject; null: nobody has entered it through the provider. */
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

/** Absent: stays. `totp: null` clears it. */
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

/** What makes an account the first: none existed before, or none is left. */
export type FirstOf = 'all-time' | 'those-left'

/** The most accounts that one list gives; a tenant may not have more. */
export const userLimits = { perTenantMax: 10_000, emailLengthMax: 254 } as const

export interface Users {
  /** `too-many-users`: the tenant has `perTenantMax` of them. */
  readonly create: (user: NewUser) => StoreCall<User, 'email-taken' | 'too-many-users'>
  /** Creates the first account; of two at the same moment one wins. */
  readonly createFirst: (user: NewUser, firstOf: FirstOf) => StoreCall<User, 'not-first'>
  readonly find: (scope: TenantScope, id: string) => StoreCall<User | null>
  /** For a login, before the tenant is known. */
  readonly findByEmail: (email: string) => StoreCall<User | null>
  /** Oldest first. */
  readonly list: (scope: TenantScope) => StoreCall<readonly User[]>
  /** @returns null: there is no such account in the scope */
  readonly update: (scope: TenantScope, id: string, change: UserChange) => StoreCall<User | null>
  /**
   * As `update`, for a change of the role. `last-of-role`: the account has the role `kept`, and no
   * other one has it; of two that are changed or deleted at once, the last one stays.
   */
  readonly updateUnlessLast: (
    scope: TenantScope,
    id: string,
    change: UserChange,
    kept: KeptRole,
  ) => StoreCall<User | null, 'last-of-role'>
  /** @returns whether there was one */
  readonly delete: (scope: TenantScope, id: string) => StoreCall<boolean>
  /** As `delete`; `last-of-role` as above. */
  readonly deleteUnlessLast: (
    scope: TenantScope,
    id: string,
    kept: KeptRole,
  ) => StoreCall<boolean, 'last-of-role'>
  readonly hasAny: () => StoreCall<boolean>
  /** Whether there is an account or ever was one: true for ever, from the first one on. */
  readonly hadAny: () => StoreCall<boolean>
  /** @returns false: the step or a later one was used already; of two at once one gets true */
  readonly useTotpStep: (id: string, step: number) => StoreCall<boolean>
  /** @returns whether the account is that identity's now; of two at once one gets true */
  readonly claimForOidc: (id: string, oidcIdentity: string) => StoreCall<boolean>
  /** Ciphertexts of active secrets, for the check of the key at start; at most `limit`. */
  readonly totpCiphertexts: (limit: number) => StoreCall<readonly string[]>
}

/** What is compared: Unicode's composed form, without case. */
export function emailKey(email: string): string {
  return email.trim().normalize('NFC').toLowerCase()
}
