// The port to the searchable copy of the audit log.
import type { StoreCall } from './store-result.ts'
import type { TenantScope } from './tenant-scope.ts'

/** Methods of calls that change something. */
export const auditedMethods = ['POST', 'PUT', 'PATCH', 'DELETE'] as const

export interface AuditedUser {
  readonly id: string
  /** Empty: it is not to be written down. */
  readonly email: string
}

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
  /** The account that made it, or that it logged in; left out: none stands behind it. */
  readonly user?: AuditedUser
  /** What the call did besides what it says; left out: nothing. */
  readonly note?: string
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
  /** Where the page before has ended. */
  readonly after?: AuditPosition
  /** Looked for in `examinedMax` entries at most, however rare it is. */
  readonly only?: AuditFilter
}

/** Left out: any. */
export interface AuditFilter {
  readonly actor?: string
  readonly method?: string
  /** Anywhere in the path; capital and small letters are the same. */
  readonly path?: string
  /** Status 400 and above. */
  readonly isRefused?: boolean
}

/** Place of one entry in the order of the list. */
export interface AuditPosition {
  readonly atMs: number
  readonly id: string
}

export interface AuditPage {
  /** Newest first; with a filter fewer than the limit, or none, while there is more. */
  readonly entries: readonly AuditEntry[]
  /** null: there is no more. */
  readonly next: AuditPosition | null
}

export const auditLimits = {
  pageMax: 1_000,
  /** By one query with a filter; a page of a million entries must not read all of them. */
  examinedMax: 10_000,
  entriesPerAppendMax: 1_000,
  /** What `prune` leaves. */
  entriesMax: 1_000_000,
  keptMs: 400 * 24 * 3_600_000,
} as const

export interface AuditCopy {
  /** An entry that is there already is passed over. */
  readonly append: (entries: readonly AuditEntry[]) => StoreCall<void>
  readonly query: (query: AuditQuery) => StoreCall<AuditPage>
  /** Removes what is older than `beforeMs`, and the oldest above `entriesMax`. @returns how many */
  readonly prune: (beforeMs: number, entriesMax: number) => StoreCall<number>
}
