// The port to what became of commits: since when nodes answer from one, and which are held.
import type { CommitActivation, HeldCommit } from '#state/ports/commit-records.ts'

/** Of all nodes; where the store is away, as far as this node knows. */
export interface CommitFates {
  /** Of these commits, by time. */
  readonly activationsOf: (commits: readonly string[]) => Promise<readonly CommitActivation[]>
  /** Newest first. */
  readonly heldCommits: () => Promise<readonly HeldCommit[]>
}
