// The port to what became of commits: when each node began to answer from one, and what was held.
import type { StoreCall } from './store-result.ts'

export interface CommitActivation {
  readonly node: string
  readonly commit: string
  /** The first time. */
  readonly atMs: number
}

export interface HeldCommit {
  readonly commit: string
  /** '' when the commit cannot be read. */
  readonly author: string
  /** 0 when the commit cannot be read. */
  readonly committedAtMs: number
  /** As in the Git status. */
  readonly code: string
  readonly reason: string
  /** The first time that a node held it. */
  readonly heldAtMs: number
}

export const commitRecordLimits = {
  /** The newest ones stay. */
  activationsPerNodeMax: 1_000,
  /** How long activations of a node that is gone are kept. */
  activationKeptMs: 400 * 24 * 3_600_000,
  heldMax: 200,
  reasonLengthMax: 2_000,
  /** Records of one kind that wait while the store is away; the oldest are dropped. */
  waitingMax: 1_000,
  /** Commits that one call may ask about. */
  askedMax: 500,
  /** Rows of one answer: nodes of a large cluster, for a page of commits. */
  rowsMax: 20_000,
} as const

export interface CommitRecords {
  /** Adds activations. Known ones stay as they are; the oldest go when there are too many. */
  readonly activated: (activations: readonly CommitActivation[]) => StoreCall<void>
  /** A commit that is held for another reason than before has the new one. */
  readonly held: (commits: readonly HeldCommit[]) => StoreCall<void>
  /** Commits that passed after all. */
  readonly accepted: (commits: readonly string[]) => StoreCall<void>
  /** Activations of these commits, by time. */
  readonly activationsOf: (commits: readonly string[]) => StoreCall<readonly CommitActivation[]>
  /** Newest first. */
  readonly heldCommits: () => StoreCall<readonly HeldCommit[]>
}
