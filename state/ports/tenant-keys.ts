// The port to API keys of tenants. Stores the SHA-256 of a key, never the key.
import type { StoreCall } from './store-result.ts'

export interface TenantKeys {
  /** Replaces the tenant's key. `hash`: 64 hexadecimal digits. */
  readonly put: (tenantId: string, hash: string, nowMs: number) => StoreCall<void, 'hash-taken'>
  /** @returns the tenant whose key has this hash */
  readonly findTenant: (hash: string) => StoreCall<string | null>
  /** Revokes the key. @returns whether there was one */
  readonly remove: (tenantId: string) => StoreCall<boolean>
}
