// The port to a source of commits: a local repository or a remote.
import type { Result } from '#lib/result.ts'
import type { GitDriver, StagedObjects } from '#gitops/git/objects/driver.ts'
import type { CommitObjects } from '#gitops/git/objects/presence.ts'
import type { SourceCode } from '#gitops/status/status.ts'

export interface SourceError {
  readonly code: SourceCode
  /** Sentences: what is wrong, what to do. Without credentials. */
  readonly reason: string
}

export interface Push {
  /** The commit that the branch must still be at; null for the first. */
  readonly expected: string | null
  readonly commit: string
  /** The commit, and what it brings. */
  readonly objects: StagedObjects
}

export type PushFailure =
  /** The branch is elsewhere; nothing was changed. */
  | { readonly kind: 'lost-race' }
  /** The other side says no, and would again. */
  | { readonly kind: 'refused'; readonly reason: string }
  /** The disk says no; the branch is where it was. */
  | { readonly kind: 'not-done'; readonly error: SourceError }
  /** Nobody knows whether the branch has moved. */
  | { readonly kind: 'unknown'; readonly error: SourceError }

export interface ConfigSource {
  /** Asking for the head costs nothing. */
  readonly isLocal: boolean
  /** Moves the branch by compare-and-swap; what it brings is on disk before. */
  push(push: Push): Promise<Result<void, PushFailure>>
  /** Checks that a failed push would succeed now: writes its objects, moves the branch nowhere. */
  checkPush(push: Push): Promise<Result<void, SourceError>>
  /** The store that `fetch` fills. */
  readonly driver: GitDriver
  /** What a person would call it; without credentials. */
  readonly name: string
  /** Asks for the head of the branch; null when there is no such branch. Moves no objects. */
  head(): Promise<Result<string | null, SourceError>>
  /** Attested commits and the blobs of their attestations, asked anew. */
  attestations(): Promise<Result<ReadonlyMap<string, string>, SourceError>>
  /** Whether what was accepted is still there for others to fetch. A remote answers for itself. */
  inspect(accepted: CommitObjects): Result<void, SourceError>
  /** Brings `head` and its history into `driver`. */
  fetch(head: string): Promise<Result<void, SourceError>>
  /** The bytes of an attestation that `attestations` listed; null: too many to be one. */
  readAttestation(commit: string, blob: string): Promise<Result<Uint8Array | null, SourceError>>
  /** What to do about objects that are missing or damaged; a sentence. */
  readonly repairAdvice: string
  /** Throws away what can be fetched again, after damage was found. */
  discard(): void
}
