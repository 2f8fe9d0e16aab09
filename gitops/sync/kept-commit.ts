// Restores the accepted commit from `gitops/kept` at a start, and saves it there for the next one:
// nothing is compiled until a change builds on it.
import { sharedCopy } from '#lib/memory/copy-for-threads.ts'
import { writeFile } from 'node:fs/promises'
import type { SigningKey } from '#bundle/signature/channel.ts'
import type { ReadFile } from '#compiler/read/read-file.ts'
import type { CommitObjects } from '#gitops/git/objects/presence.ts'
import { assert } from '#lib/assert.ts'
import { makeDurably } from '#lib/durable-file.ts'
import type { ReadAt } from './compile-port.ts'
import { blobIds, encodeKept, objectsOf, readingsIn, readKept } from './kept-file.ts'
import type { Kept, KeptHead } from './kept-file.ts'

interface KeptCommitParts {
  /** `gitops/kept` in the data directory. */
  readonly path: string
  readonly key: SigningKey
  /** See `KeptHead`. */
  readonly stamp: string
  /** Logs, once each, why the file is thrown away and why it cannot be written. */
  readonly note: (line: string) => void
}

/** `nothing new`: the file holds this commit already, or no commit was accepted. */
export type Keeping = 'kept' | 'not kept' | 'nothing new'

export class KeptCommit {
  readonly #parts: KeptCommitParts
  readonly #onTaken: (revision: string, objects: Uint8Array) => void
  /** Objects of the commit that was restored from the file; null once this process has read it. */
  #taken: CommitObjects | null = null
  /** Encoded objects of the commit that was read, until they are in the file. */
  #encoded: { readonly commit: string; readonly objects: Uint8Array } | undefined
  /** The write under way; never rejects. */
  #writing: Promise<unknown> = Promise.resolve()
  /** True once the file was found unusable: it is not read again. */
  #isDoubted = false
  /** Id of the commit in the file. */
  #commit = ''
  #isRefusalLogged = false

  constructor(parts: KeptCommitParts, onTaken: (revision: string, objects: Uint8Array) => void) {
    this.#parts = parts
    this.#onTaken = onTaken
  }

  /** @returns null: no commit was restored, or it has been read meanwhile */
  objects(): CommitObjects | null {
    return this.#taken
  }

  /**
   * Drops the restored commit.
   *
   * @returns its id; undefined: there was none
   */
  release(): string | undefined {
    const commit = this.#taken?.commit
    this.#taken = null
    return commit
  }

  /** @returns undefined: this commit was not kept, or not with this bundle */
  find({ commit, tree, digest }: Pick<KeptHead, 'commit' | 'tree' | 'digest'>): Kept | undefined {
    const kept = this.#read()
    if (kept === undefined) return undefined
    const { head } = kept
    return head.commit === commit && head.tree === tree && head.digest === digest ? kept : undefined
  }

  /** To be called when `found` is used instead of a compilation. */
  take(found: Kept): void {
    const { objects } = found
    this.#taken = objectsOf(found)
    this.#onTaken(found.head.commit, sharedCopy(objects))
  }

  /** Files of that commit or of an earlier one that need not be read again. */
  readings(): readonly ReadFile[] {
    const kept = this.#read()
    return kept === undefined ? [] : readingsIn(kept)
  }

  /** @param objects of a commit that was read, as `encodeObjects` makes them of its files */
  useEncoded(commit: string, objects: Uint8Array): void {
    this.#encoded = { commit, objects }
  }

  /** Writes the file. Never rejects: a failure is logged. */
  async keep(head: Omit<KeptHead, 'stamp'>, read: () => readonly ReadAt[]): Promise<Keeping> {
    const { path, key, stamp, note } = this.#parts
    if (head.commit === this.#commit) {
      // A stop must not interrupt the write.
      await this.#writing
      return 'nothing new'
    }
    this.#commit = head.commit
    const encoded = this.#encoded?.commit === head.commit ? this.#encoded.objects : undefined
    this.#encoded = undefined
    try {
      const pieces = encodeKept({ stamp, ...head }, read(), key, encoded)
      if (pieces === undefined) return 'not kept'
      const writing = makeDurably(path, (to) => writeFile(to, pieces, { mode: 0o600 }))
      this.#writing = writing.catch(() => undefined)
      await writing
      this.#isRefusalLogged = false
      this.#isDoubted = false
      return 'kept'
    } catch (error) {
      this.#commit = ''
      if (this.#isRefusalLogged) return 'not kept'
      this.#isRefusalLogged = true
      const { message } = error as Error
      note(`${path} cannot be written, and the next start takes longer: ${message}`)
      return 'not kept'
    }
  }

  /**
   * Marks the commit as restored from the file, once its files were dropped from memory.
   *
   * @param blobs ids of the files of its commit
   */
  putAway(head: Pick<KeptHead, 'commit' | 'tree'>, blobs: readonly string[]): void {
    assert(head.commit === this.#commit, 'what is put away is in the file')
    this.#taken = objectsOf({ head, ids: blobIds(blobs) })
  }

  #read(): Kept | undefined {
    const { path, key, stamp, note } = this.#parts
    if (this.#isDoubted) return undefined
    const read = readKept(path, key)
    const isOurs = read.ok && read.value?.head.stamp === stamp
    if (isOurs) {
      this.#commit = read.value.head.commit
      return read.value
    }
    const reason = read.ok ? 'is of another version of gslbd, or of other settings' : read.error
    this.#isDoubted = true
    const isThere = !read.ok || read.value !== null
    if (isThere) note(`${path} ${reason}; it is made anew, and the accepted commit read from Git`)
    return undefined
  }
}
