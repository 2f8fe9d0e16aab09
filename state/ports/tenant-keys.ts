// The port for API keys of tenants. A key itself is never here, only its SHA-256.
import type { StoreCall } from './store-result.ts'

export interface TenantKeys {
  /** Replaces the tenant's key. `hash`: 64 hexadecimal digits. */
  readonly put: (tenantId: string, hash: string, nowMs: number) => StoreCall<void, 'hash-taken'>
  /** @returns the tenant whose key has this hash */
  readonly findTenant: (hash: string) => StoreCall<string | null>
  /** The key is refused from now on. @returns whether there was one */
  readonly remove: (tenantId: string) => StoreCall<boolean>
}
