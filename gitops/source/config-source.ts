// The port to a source of commits: a local repository or a remote.
import type { Result } from '#lib/result.ts'
import type { GitDriver, StagedObjects } from '#gitops/git/objects/driver.ts'
import type { CommitObjects } from '#gitops/git/objects/presence.ts'
import type { SourceCode } from '#gitops/status/status.ts'

export interface SourceError {
  readonly code: SourceCode
  /** Sentences that say what is wrong and what to do, without credentials. */
  readonly reason: string
}

export interface Push {
  /** The commit that the branch must still be at; null for the first. */
  readonly expected: string | null
  readonly commit: string
  /** The commit, and the objects that it needs. */
  readonly objects: StagedObjects
}

export type PushFailure =
  /** Another commit is the head of the branch; nothing was changed. */
  | { readonly kind: 'lost-race' }
  /** The remote refuses, and would refuse again. */
  | { readonly kind: 'refused'; readonly reason: string }
  /** The disk refuses; the branch has not moved. */
  | { readonly kind: 'not-done'; readonly error: SourceError }
  /** The branch may or may not have moved. */
  | { readonly kind: 'unknown'; readonly error: SourceError }

export interface ConfigSource {
  /** True when asking for the head needs no network. */
  readonly isLocal: boolean
  /** Moves the branch by compare-and-swap; all objects of the push are on disk before. */
  push(push: Push): Promise<Result<void, PushFailure>>
  /** Whether a failed push would succeed now: writes its objects, and moves no branch. */
  checkPush(push: Push): Promise<Result<void, SourceError>>
  /** The store that `fetch` fills. */
  readonly driver: GitDriver
  /** A name for people, without credentials. */
  readonly name: string
  /** Asks for the head of the branch; null when there is no such branch. Moves no objects. */
  head(): Promise<Result<string | null, SourceError>>
  /** Asks for attestations: from the attested commit to the blob of its attestation. */
  attestations(): Promise<Result<ReadonlyMap<string, string>, SourceError>>
  /** Whether the accepted commit can still be fetched by others. A remote takes care of its own. */
  inspect(accepted: CommitObjects): Result<void, SourceError>
  /** Fetches `head` and its history into `driver`. */
  fetch(head: string): Promise<Result<void, SourceError>>
  /** The bytes of an attestation that `attestations` listed; null: too many to be one. */
  readAttestation(commit: string, blob: string): Promise<Result<Uint8Array | null, SourceError>>
  /** Advice about missing or damaged objects; a sentence. */
  readonly repairAdvice: string
  /** Throws away what can be fetched again, after damage was found. */
  discard(): void
}
