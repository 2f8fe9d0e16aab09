// The port to what became of commits: since when nodes answer from one, and which are held.
import type { CommitActivation, HeldCommit } from '#state/ports/commit-records.ts'

/** Fates on all nodes; while the store is away, as far as this node knows. */
export interface CommitFates {
  /** Activations of these commits, by time. */
  readonly activationsOf: (commits: readonly string[]) => Promise<readonly CommitActivation[]>
  /** Newest first. */
  readonly heldCommits: () => Promise<readonly HeldCommit[]>
}
