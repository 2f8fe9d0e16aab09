// Tenants as routes see them: declared in the configuration, so that creating one is a commit.
import type { Result } from '#lib/result.ts'
import type { Caller } from './caller.ts'
import type { Reply } from '#http/reply.ts'

export interface TenantRecord {
  /** The name of its folder. */
  readonly id: string
  readonly name: string
  readonly rpsLimit: number
  /** Unix seconds; 0: not known. */
  readonly createdAt: number
}

/** Names the author of a commit, and the request that causes it. */
export interface WriteOrigin {
  readonly caller: Caller
  readonly requestId: string
  readonly isDryRun: boolean
  /** Subject of the commit; left out: it says what the commit does. */
  readonly subject?: string
}

export interface Tenants {
  /** All, `default` first; in memory. */
  readonly list: () => readonly TenantRecord[]
  /** undefined: no such tenant, or no longer. */
  readonly find: (id: string) => TenantRecord | undefined
  /** The id for a new tenant of this name: of no tenant that is there, maybe of one that was. */
  readonly idFor: (name: string) => string
  /** How many objects the configuration has below the folder of this tenant, its record aside. */
  readonly objectCount: (id: string) => number
  /** Durable and live when it resolves. Errors: the answer. */
  readonly create: (
    tenant: { readonly id: string; readonly name: string; readonly rpsLimit: number },
    origin: WriteOrigin,
  ) => Promise<Result<TenantRecord, Reply>>
  /** Removes the record only: pools, services and the rest stay. */
  readonly remove: (id: string, origin: WriteOrigin) => Promise<Result<null, Reply>>
}
