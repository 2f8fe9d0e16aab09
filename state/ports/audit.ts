// The port to the searchable copy of the audit log.
import type { StoreCall } from './store-result.ts'
import type { TenantScope } from './tenant-scope.ts'

/** Methods of requests that change something. */
export const auditedMethods = ['POST', 'PUT', 'PATCH', 'DELETE'] as const

interface AuditedUser {
  readonly id: string
  /** Empty: not to be recorded. */
  readonly email: string
}

/** One API call that changed something. */
export interface AuditEntry {
  /** Unique; ids of later calls of a node sort later (UUIDv7). */
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
  /** Found in the commit message, if the call made a commit. */
  readonly requestId: string | null
  /** The account that made the call, or that logged in; left out: none. */
  readonly user?: AuditedUser
  /** Further effects of the call; left out: none. */
  readonly note?: string
  /** Number of calls summed up; left out: one. */
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
  /** The last entry of the previous page. */
  readonly after?: AuditPosition
  /** Filters; at most `examinedMax` entries are examined. */
  readonly only?: AuditFilter
}

/** Left out fields match anything. */
export interface AuditFilter {
  readonly actor?: string
  readonly method?: string
  /** Substring of the path, case-insensitive. */
  readonly path?: string
  /** Status 400 and above. */
  readonly isRefused?: boolean
}

/** Position of an entry in the list. */
export interface AuditPosition {
  readonly atMs: number
  readonly id: string
}

export interface AuditPage {
  /** Newest first; with a filter there may be fewer than the limit, or none, before the end. */
  readonly entries: readonly AuditEntry[]
  /** null: the end. */
  readonly next: AuditPosition | null
}

export const auditLimits = {
  pageMax: 1_000,
  /** By one query with a filter: a page out of a million entries must not read all of them. */
  examinedMax: 10_000,
  entriesPerAppendMax: 1_000,
  /** Bounds for `prune`. */
  entriesMax: 1_000_000,
  keptMs: 400 * 24 * 3_600_000,
} as const

export interface AuditCopy {
  /** Known entries are skipped. */
  readonly append: (entries: readonly AuditEntry[]) => StoreCall<void>
  readonly query: (query: AuditQuery) => StoreCall<AuditPage>
  /**
   * Removes entries older than `beforeMs`, and above `entriesMax` the oldest of the tenants that
   * have most.
   *
   * @returns their number
   */
  readonly prune: (beforeMs: number, entriesMax: number) => StoreCall<number>
}
