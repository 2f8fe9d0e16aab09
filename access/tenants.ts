// Defines tenants as routes see them: declared in the configuration, so that creating one is a
// commit.
import type { Result } from '#lib/result.ts'
import type { Caller } from './caller.ts'
import type { Reply } from '#http/reply.ts'

export interface TenantRecord {
  /** Name of its folder. */
  readonly id: string
  readonly name: string
  readonly rpsLimit: number
  /** Unix seconds; 0: unknown. */
  readonly createdAt: number
}

/** The author of a commit, and the request that causes it. */
export interface WriteOrigin {
  readonly caller: Caller
  readonly requestId: string
  readonly isDryRun: boolean
  /** Subject of the commit; left out: a description of the change. */
  readonly subject?: string
}

export interface Tenants {
  /** All tenants in memory, `default` first. */
  readonly list: () => readonly TenantRecord[]
  /** undefined: there is no such tenant. */
  readonly find: (id: string) => TenantRecord | undefined
  /** A free id for a tenant of this name; an earlier tenant may have had it. */
  readonly idFor: (name: string) => string
  /** Number of objects below the tenant's folder, without its own record. */
  readonly objectCount: (id: string) => number
  /** Resolves when the tenant is durable and active. Errors: the response. */
  readonly create: (
    tenant: { readonly id: string; readonly name: string; readonly rpsLimit: number },
    origin: WriteOrigin,
  ) => Promise<Result<TenantRecord, Reply>>
  /** Removes the record only; pools, services and the rest stay. */
  readonly remove: (id: string, origin: WriteOrigin) => Promise<Result<null, Reply>>
}
