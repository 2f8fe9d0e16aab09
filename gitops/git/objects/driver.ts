// The port to a Git object store.
import type { Result } from '#lib/result.ts'
import type { TreeEntry } from './tree-object.ts'
import type { CommitObjects } from './presence.ts'

export type EntryKind = 'file' | 'symlink' | 'submodule'

/** A file of a whole tree; `path` has slashes, since folders are opened. */
export interface TreeFile {
  readonly path: string
  /** Git's file mode, six digits. */
  readonly mode: string
  readonly oid: string
  readonly kind: EntryKind
}

/**
 * `missing`: the store does not have the object. `damaged`: its content does not match its id.
 * `oversized`: its header claims more than the reader takes.
 */
export interface ObjectError {
  readonly kind: 'missing' | 'damaged' | 'refused' | 'oversized'
  /** With `oversized`: the size that the object claims. */
  readonly sizeBytes?: number
  /** A sentence that says what is wrong. */
  readonly reason: string
}

export interface RefConflict {
  /** Where the ref is now; null when it does not exist. */
  readonly current: string | null
  readonly reason: string
}

export interface StagedObject {
  readonly type: 'blob' | 'tree' | 'commit'
  readonly content: Uint8Array
  /** The compressed form, in which the store will write it; another thread works on it. */
  readonly deflated?: Promise<Uint8Array> | undefined
}

/** Objects by id that the store does not have yet. */
export type StagedObjects = ReadonlyMap<string, StagedObject>

/** Object ids are 40 lower-case hex digits; refs are whole names such as `refs/heads/main`. */
export interface GitDriver {
  readonly gitdir: string
  readRef(ref: string): string | null
  /**
   * Refs that start with `prefix`, which ends in a slash: the rest of the name to the object id.
   */
  listRefs(prefix: string): ReadonlyMap<string, string>
  /** The raw object, checked against its id. */
  readCommit(oid: string): Promise<Result<Uint8Array, ObjectError>>
  /**
   * Every file under a tree, in Git's order. `refused`: too large, too deep, or an unusable name.
   */
  readTree(treeOid: string): Promise<Result<readonly TreeFile[], ObjectError>>
  /** The entries of one folder, in Git's order. */
  readFolder(treeOid: string): Promise<Result<readonly TreeEntry[], ObjectError>>
  /** @param bytesMax what is larger is `oversized`, and costs no more than a look at its header */
  readBlob(oid: string, bytesMax?: number): Promise<Result<Uint8Array, ObjectError>>
  /** Whether all of them are still there; their content is not read. */
  stillHas(objects: CommitObjects): Result<void, ObjectError>
  /** Writes a tree that is `baseTree` with files set (bytes) or removed (null); returns its id. */
  writeFiles(
    baseTree: string | null,
    changes: ReadonlyMap<string, Uint8Array | null>,
  ): Promise<Result<string, ObjectError>>
  /** Returns the objects that `writeFiles` would write, and writes nothing. */
  planFiles(
    baseTree: string | null,
    changes: ReadonlyMap<string, Uint8Array | null>,
  ): Promise<Result<{ readonly tree: string; readonly objects: StagedObjects }, ObjectError>>
  writeObject(type: 'blob' | 'tree' | 'commit', content: Uint8Array): string
  /** Resolves when all objects are on the disk. @throws the file system's error. */
  writeObjects(objects: StagedObjects): Promise<void>
  /** Compare-and-swap under Git's own lock file; null means "does not exist". */
  moveRef(ref: string, expected: string | null, next: string): Promise<Result<void, RefConflict>>
}
