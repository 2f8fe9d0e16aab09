// The port to the searchable copy of the audit log.
import type { StoreCall } from './store-result.ts'
import type { TenantScope } from './tenant-scope.ts'

/** One call that changed something. */
export interface AuditEntry {
  /** Unique, and later calls of a node sort later (UUIDv7). */
  readonly id: string
  readonly atMs: number
  readonly method: string
  readonly path: string
  /** The last four characters of the bearer token, or `anon`. */
  readonly actor: string
  readonly remote: string
  readonly status: number
  readonly durationMs: number
  readonly tenantId: string
  /** Leads to the commit, if the call made one. */
  readonly requestId: string | null
  /** How many calls it sums up; left out: it is one. */
  readonly requests?: number
}

export interface AuditQuery {
  readonly scope: TenantScope
  /** Included. */
  readonly fromMs: number
  /** Not included. */
  readonly toMs: number
  /** 1 to `pageMax`. */
  readonly limit: number
  /** The last entry of the page before. */
  readonly after?: { readonly atMs: number; readonly id: string }
}

export const auditLimits = {
  pageMax: 1_000,
  entriesPerAppendMax: 1_000,
  /** What `prune` leaves. */
  entriesMax: 1_000_000,
  keptMs: 400 * 24 * 3_600_000,
} as const

export interface AuditCopy {
  /** An entry that is there already is passed over. */
  readonly append: (entries: readonly AuditEntry[]) => StoreCall<void>
  /** Newest first. */
  readonly query: (query: AuditQuery) => StoreCall<readonly AuditEntry[]>
  /** Removes what is older than `beforeMs`, and the oldest above `entriesMax`. @returns how many */
  readonly prune: (beforeMs: number, entriesMax: number) => StoreCall<number>
}
