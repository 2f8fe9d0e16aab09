// Takes up the accepted commit from `gitops/kept` at a start, and writes it there for the next one:
// nothing is compiled until something is to be built on it.
import { writeFile } from 'node:fs/promises'
import type { SigningKey } from '#bundle/signature/channel.ts'
import type { ReadFile } from '#compiler/read/read-file.ts'
import type { CommitObjects } from '#gitops/git/objects/presence.ts'
import { assert } from '#lib/assert.ts'
import { makeDurably } from '#lib/durable-file.ts'
import type { ReadAt } from './compile-port.ts'
import { blobIds, encodeKept, objectsOf, readingsIn, readKept } from './kept-file.ts'
import type { Kept, KeptHead } from './kept-file.ts'

export interface KeptCommitParts {
  /** `gitops/kept` in the data directory. */
  readonly path: string
  readonly key: SigningKey
  /** See `KeptHead`. */
  readonly stamp: string
  /** Told once why the file is thrown away, and once why it cannot be written. */
  readonly note: (line: string) => void
}

/** What the reconciler asks. */
export interface KeptPort {
  /** undefined: this commit was not kept, or not with this bundle. */
  readonly find: (wanted: Pick<KeptHead, 'commit' | 'tree' | 'digest'>) => Kept | undefined
  /** Told when `found` is taken in the place of a compilation. */
  readonly take: (found: Kept) => void
  /** Files of that commit or of an earlier one, to be read no second time. */
  readonly readings: () => readonly ReadFile[]
}

/** `nothing new`: the file has this commit already, or none was accepted. */
export type Keeping = 'kept' | 'not kept' | 'nothing new'

export class KeptCommit implements KeptPort {
  readonly #parts: KeptCommitParts
  readonly #onTaken: (revision: string, objects: Uint8Array) => void
  /** Told of, and not read by this process. */
  #taken: CommitObjects | null = null
  /** Objects of a commit that were told of, until they are in the file. */
  #told: { readonly commit: string; readonly objects: Uint8Array } | undefined
  /** What was wrong once is not looked at again. */
  #writing: Promise<unknown> = Promise.resolve()
  #isDoubted = false
  /** The commit in the file. */
  #commit = ''
  #isRefusalTold = false

  constructor(parts: KeptCommitParts, onTaken: (revision: string, objects: Uint8Array) => void) {
    this.#parts = parts
    this.#onTaken = onTaken
  }

  /** null: none was taken, or it has been read meanwhile. */
  objects(): CommitObjects | null {
    return this.#taken
  }

  /** Drops what was kept. @returns its commit; undefined: none was kept */
  release(): string | undefined {
    const commit = this.#taken?.commit
    this.#taken = null
    return commit
  }

  find: KeptPort['find'] = ({ commit, tree, digest }) => {
    const kept = this.#read()
    if (kept === undefined) return undefined
    const { head } = kept
    return head.commit === commit && head.tree === tree && head.digest === digest ? kept : undefined
  }

  take: KeptPort['take'] = (found) => {
    const { objects } = found
    this.#taken = objectsOf(found)
    const shared = new Uint8Array(new SharedArrayBuffer(objects.length))
    shared.set(objects)
    this.#onTaken(found.head.commit, shared)
  }

  readings: KeptPort['readings'] = () => {
    const kept = this.#read()
    return kept === undefined ? [] : readingsIn(kept)
  }

  /** @param objects of a commit that was read, as `encodeObjects` gives them for its files */
  tell(commit: string, objects: Uint8Array): void {
    this.#told = { commit, objects }
  }

  /** Never rejects: what fails is told. */
  async keep(head: Omit<KeptHead, 'stamp'>, read: () => readonly ReadAt[]): Promise<Keeping> {
    const { path, key, stamp, note } = this.#parts
    if (head.commit === this.#commit) {
      // A stop must not cut it off.
      await this.#writing
      return 'nothing new'
    }
    this.#commit = head.commit
    const encoded = this.#told?.commit === head.commit ? this.#told.objects : undefined
    this.#told = undefined
    try {
      const pieces = encodeKept({ stamp, ...head }, read(), key, encoded)
      if (pieces === undefined) return 'not kept'
      const writing = makeDurably(path, (to) => writeFile(to, pieces, { mode: 0o600 }))
      this.#writing = writing.catch(() => undefined)
      await writing
      this.#isRefusalTold = false
      this.#isDoubted = false
      return 'kept'
    } catch (error) {
      this.#commit = ''
      if (this.#isRefusalTold) return 'not kept'
      this.#isRefusalTold = true
      const { message } = error as Error
      note(`${path} cannot be written, and the next start takes longer: ${message}`)
      return 'not kept'
    }
  }

  /** What is in the file is not in memory any more. @param blobs ids, of files of its commit */
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
