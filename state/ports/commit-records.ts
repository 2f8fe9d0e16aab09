// The port to the history of commits: when each node activated one, and which were held.
import type { StoreCall } from './store-result.ts'

export interface CommitActivation {
  readonly node: string
  readonly commit: string
  /** The first activation. */
  readonly atMs: number
}

export interface HeldCommit {
  readonly commit: string
  /** '' when the commit cannot be read. */
  readonly author: string
  /** 0 when the commit cannot be read. */
  readonly committedAtMs: number
  /** Code and reason as in the Git status. */
  readonly code: string
  readonly reason: string
  /** When a node first held it. */
  readonly heldAtMs: number
}

export const commitRecordLimits = {
  /** The newest ones are kept. */
  activationsPerNodeMax: 1_000,
  /** How long activations of a removed node are kept. */
  activationKeptMs: 400 * 24 * 3_600_000,
  heldMax: 200,
  reasonLengthMax: 2_000,
  /** Records of one kind queued while the store is away; the oldest are dropped. */
  waitingMax: 1_000,
  /** Commits in one request. */
  askedMax: 500,
  /** Rows of one reply: nodes of a large cluster times a page of commits. */
  rowsMax: 20_000,
} as const

export interface CommitRecords {
  /** Adds activations. Known ones are unchanged; surplus old ones are removed. */
  readonly activated: (activations: readonly CommitActivation[]) => StoreCall<void>
  /** Stores held commits; a new reason replaces the old one. */
  readonly held: (commits: readonly HeldCommit[]) => StoreCall<void>
  /** Removes commits that were accepted after all. */
  readonly accepted: (commits: readonly string[]) => StoreCall<void>
  /** Activations of these commits, by time. */
  readonly activationsOf: (commits: readonly string[]) => StoreCall<readonly CommitActivation[]>
  /** Newest first. */
  readonly heldCommits: () => StoreCall<readonly HeldCommit[]>
}
