// Caches users and tenant keys for seconds, so that not each read queries the database.
import { ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import type { Clock } from '#lib/clock.ts'
import type { Roles } from '#state/ports/roles.ts'
import type { StoreFailure } from '#state/ports/store-result.ts'
import type { TenantKeys } from '#state/ports/tenant-keys.ts'
import type { Users } from '#state/ports/users.ts'
import { builtInRoles, isPermission } from '#access/permissions.ts'
import type { BuiltInRole, Permission } from '#access/permissions.ts'

interface UserIdentity {
  readonly userId: string
  readonly email: string
  readonly displayName: string
  readonly tenant: string
  readonly role: string
  readonly permissions: ReadonlySet<Permission>
}

/** A tenant's API key. */
interface KeyIdentity {
  readonly tenant: string
  readonly permissions: ReadonlySet<Permission>
}

export const identityLimits = {
  /** How late another node may notice a change; this node notices it at once. */
  keptMs: 5_000,
  entriesMax: 10_000,
} as const

export interface IdentityStores {
  readonly users: Users
  readonly roles: Roles
  readonly tenantKeys: TenantKeys
  readonly clock: Clock
}

type Looked<T> = Promise<Result<T | null, StoreFailure>>

export class Identities {
  readonly #stores: IdentityStores
  readonly #users: Kept<UserIdentity>
  readonly #keys: Kept<KeyIdentity>

  constructor(stores: IdentityStores) {
    this.#stores = stores
    this.#users = new Kept(stores.clock)
    this.#keys = new Kept(stores.clock)
  }

  /** null: there is no such user. */
  user(id: string): Looked<UserIdentity> {
    return this.#users.get(id, () => this.#lookUpUser(id))
  }

  /** The tenant whose API key has this hash, and what the key may do; null: there is none. */
  tenantOfKey(hash: string): Looked<KeyIdentity> {
    return this.#keys.get(hash, () => this.#lookUpKey(hash))
  }

  /** To be called after any change of a user, a role or a tenant's key. */
  forget(): void {
    this.#users.clear()
    this.#keys.clear()
  }

  async #lookUpUser(id: string): Looked<UserIdentity> {
    const found = await this.#stores.users.find('every-tenant', id)
    if (!found.ok) return found
    if (found.value === null) return ok(null)
    const { role, tenantId, displayName, email } = found.value
    const permissions = await this.#permissionsOf(tenantId, role)
    if (!permissions.ok) return permissions
    const identity = { userId: id, email, displayName, tenant: tenantId, role }
    return ok({ ...identity, permissions: permissions.value })
  }

  async #lookUpKey(hash: string): Looked<KeyIdentity> {
    const found = await this.#stores.tenantKeys.findTenant(hash)
    if (!found.ok) return found
    if (found.value === null) return ok(null)
    const tenant = found.value
    const permissions = await this.#permissionsOf(tenant, tenantKeyRole)
    return permissions.ok ? ok({ tenant, permissions: permissions.value }) : permissions
  }

  async #permissionsOf(
    tenantId: string,
    role: string,
  ): Promise<Result<ReadonlySet<Permission>, StoreFailure>> {
    const stored = await this.#stores.roles.findByName(tenantId, role)
    if (!stored.ok) return stored
    // The store learns of built-in roles at the first start that reaches it.
    const granted = stored.value?.permissions ?? builtIn.get(role) ?? []
    return ok(new Set(granted.filter(isPermission)))
  }
}

const builtIn: ReadonlyMap<string, readonly Permission[]> = new Map(Object.entries(builtInRoles))

/** The role whose permissions a tenant's API key has, as they are stored. */
const tenantKeyRole: BuiltInRole = 'operator'

/** A cache of found values; absent ones are looked up each time. */
class Kept<T> {
  readonly #clock: Clock
  readonly #entries = new Map<string, { readonly value: T; readonly untilMs: number }>()
  /** Raised by `clear`: a value that was read before must not be cached after it. */
  #generation = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  async get(key: string, lookUp: () => Looked<T>): Looked<T> {
    const entry = this.#entries.get(key)
    if (entry !== undefined && entry.untilMs > this.#clock.monotonicMs()) return ok(entry.value)
    const generation = this.#generation
    const found = await lookUp()
    if (!found.ok) return found
    this.#entries.delete(key)
    if (found.value !== null && generation === this.#generation) this.#keep(key, found.value)
    return found
  }

  clear(): void {
    this.#generation += 1
    this.#entries.clear()
  }

  #keep(key: string, value: T): void {
    if (this.#entries.size >= identityLimits.entriesMax) {
      const [oldest = ''] = this.#entries.keys()
      this.#entries.delete(oldest)
    }
    this.#entries.set(key, { value, untilMs: this.#clock.monotonicMs() + identityLimits.keptMs })
  }
}
