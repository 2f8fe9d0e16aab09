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

/** Against its first parent: what it changed when it became the newest. */
export interface HistoryCommit {
  readonly commit: string
  /** null: the first commit. */
  readonly parent: string | null
  /** `Name <address>` */
  readonly author: string
  readonly atSeconds: number
  readonly subject: string
  readonly objects: readonly ChangedObject[]
  /** It changed what others own, or more objects than are listed. */
  readonly isMore: boolean
}

export interface HistoryQuestion {
  /** Only what this tenant may see; null: everything. */
  readonly tenant: string | null
  /** Commits that changed this object; '': any. */
  readonly uid: string
  /** Goes on after this commit; '': from the accepted one. */
  readonly after: string
  readonly commitsMax: number
}

export interface HistoryPage {
  readonly commits: readonly HistoryCommit[]
  /** There may be more after this commit; '': there is none. */
  readonly next: string
  /** The times of what was looked at lie before this, and not before that; null: no such bound. */
  readonly beforeSeconds: number | null
  readonly fromSeconds: number | null
}

export interface ObjectChange extends ChangedObject {
  /** null: there was none, or the file was none that can be read. */
  readonly before: ConfigEntry | null
  readonly after: ConfigEntry | null
}

export interface CommitChange extends HistoryCommit {
  readonly changes: readonly ObjectChange[]
  /** It changed more than was read, of whomever. */
  readonly isCut: boolean
}

/** `not-found`: not in the history of the accepted commit, or nothing of the asker's. */
export type HistoryFault = 'not-found' | 'busy' | 'unavailable'

export interface ConfigHistory {
  readonly list: (question: HistoryQuestion) => Promise<Result<HistoryPage, HistoryFault>>
  readonly changeOf: (
    commit: string,
    tenant: string | null,
  ) => Promise<Result<CommitChange, HistoryFault>>
  /** All files as they were with this commit: what it compiles from. */
  readonly filesOf: (commit: string) => Promise<Result<readonly SourceFile[], FilesFault>>
}

/** `too-large`: the files are beyond `treeBytesMax`, together. */
export type FilesFault = HistoryFault | 'too-large'

export interface HistoryLimits {
  /** Commits that one question looks at; the next page goes on from there. */
  readonly walkedMax: number
  /** Files that one question looks at; those of its last commit may exceed it. */
  readonly filesMax: number
  /** Octets of these files. */
  readonly bytesMax: number
  /** How deep a commit may lie to be found by its id. */
  readonly depthMax: number
  /** Objects of one commit that are shown; a revert takes no more. */
  readonly objectsMax: number
  /** Octets of one commit's files, before and after; the rest is not read. */
  readonly commitBytesMax: number
  /** Octets of all files of a commit. */
  readonly treeBytesMax: number
  /** Questions at once. */
  readonly askedMax: number
  /** Commits whose changes are remembered, and files in them, together. */
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
  keptMax: 20_000,
})
