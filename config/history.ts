// Defines what commits did to objects, as data for the API.
import type { SourceFile } from '#compiler/read/source.ts'
import type { Result } from '#lib/result.ts'
import type { Kind } from '#schemas/kinds.ts'
import type { ConfigEntry } from './entry.ts'

export interface ChangedObject {
  readonly kind: Kind
  /** '' for the settings and for response policies. */
  readonly tenant: string
  readonly name: string
  readonly uid: string
  readonly change: 'created' | 'updated' | 'deleted'
}

/** A commit and its changes against its first parent: the changes when it became the newest. */
export interface HistoryCommit {
  readonly commit: string
  /** null: the first commit. */
  readonly parent: string | null
  /** `Name <address>` */
  readonly author: string
  readonly atSeconds: number
  readonly subject: string
  readonly objects: readonly ChangedObject[]
  /** Whether the commit changed objects of other tenants, or more objects than are listed. */
  readonly isMore: boolean
}

export interface HistoryQuestion {
  /** Limits the answer to objects that this tenant may see; null: no limit. */
  readonly tenant: string | null
  /** Id or name of an object: only commits that changed it; '': any. */
  readonly object: string
  /** Times of commits, Unix epoch; `beforeSeconds` is excluded. */
  readonly fromSeconds: number
  readonly beforeSeconds: number
  /** Commit after which the list continues; '': begins with the accepted one. */
  readonly after: string
  readonly commitsMax: number
}

export interface HistoryPage {
  readonly commits: readonly HistoryCommit[]
  /** Commit from which the next page continues; '': there is none. */
  readonly next: string
  /** Bounds of the commit times on this page, `beforeSeconds` excluded; null: no bound. */
  readonly beforeSeconds: number | null
  readonly fromSeconds: number | null
}

export interface ObjectChange extends ChangedObject {
  /** null: there was no file, or none that can be read. */
  readonly before: ConfigEntry | null
  readonly after: ConfigEntry | null
}

export interface CommitChange extends HistoryCommit {
  readonly changes: readonly ObjectChange[]
  /** Whether the commit changed more objects than were read, of any tenant. */
  readonly isCut: boolean
}

/**
 * `not-found`: the commit is not in the history of the accepted one, or has nothing of the asking
 * tenant.
 */
export type HistoryFault = 'not-found' | 'busy' | 'unavailable'

export interface ConfigHistory {
  readonly list: (question: HistoryQuestion) => Promise<Result<HistoryPage, HistoryFault>>
  readonly changeOf: (
    commit: string,
    tenant: string | null,
  ) => Promise<Result<CommitChange, HistoryFault>>
  /** Returns all files of a commit, from which it compiles. */
  readonly filesOf: (commit: string) => Promise<Result<readonly SourceFile[], FilesFault>>
}

/** `too-large`: the files together exceed `treeBytesMax`. */
export type FilesFault = HistoryFault | 'too-large'

export interface HistoryLimits {
  /** Commits that one question visits; the next page continues there. */
  readonly walkedMax: number
  /** Files that one question reads; those of its last commit may exceed it. */
  readonly filesMax: number
  /** Octets of the files that one question reads. */
  readonly bytesMax: number
  /** Depth up to which a commit is found by its id. */
  readonly depthMax: number
  /** Objects of one commit that are shown; a revert handles no more. */
  readonly objectsMax: number
  /** Octets of one commit's files, before and after; further files are not read. */
  readonly commitBytesMax: number
  /** Octets of all files of one commit. */
  readonly treeBytesMax: number
  /** Concurrent questions. */
  readonly askedMax: number
  /** The same of one tenant, so that others have a place. */
  readonly askedPerTenantMax: number
  /** Commits with cached changes, plus the files in them. */
  readonly keptMax: number
}

export const historyLimits: HistoryLimits = Object.freeze({
  walkedMax: 2_000,
  filesMax: 2_000,
  bytesMax: 32 * 1024 * 1024,
  depthMax: 100_000,
  objectsMax: 200,
  commitBytesMax: 16 * 1024 * 1024,
  treeBytesMax: 64 * 1024 * 1024,
  askedMax: 32,
  askedPerTenantMax: 16,
  keptMax: 20_000,
})
