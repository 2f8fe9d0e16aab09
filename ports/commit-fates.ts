// Defines the port to what became of commits: when nodes activated them, and which are held.
import type { CommitActivation, HeldCommit } from '#state/ports/commit-records.ts'

/** Fates on all nodes; while the store is away, on this node. */
export interface CommitFates {
  /** Activations of these commits, ordered by time. */
  readonly activationsOf: (commits: readonly string[]) => Promise<readonly CommitActivation[]>
  /** Newest first. */
  readonly heldCommits: () => Promise<readonly HeldCommit[]>
}
