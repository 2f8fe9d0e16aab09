// Holds the accepted commit as writes need it: its files, its objects and its free paths.
import { readYaml } from '#compiler/yaml/document.ts'
import type { ReadFile } from '#compiler/read/read-file.ts'
import type { SourceFile } from '#compiler/read/source.ts'
import type { Clock } from '#lib/clock.ts'
import { assert } from '#lib/assert.ts'
import { byCodeUnits } from '#lib/sequence/order.ts'
import { lowerBound } from '#lib/sequence/lower-bound.ts'
import { configEntry } from '#config/entry.ts'
import type { ConfigEntry } from '#config/entry.ts'
import { ConfigIndex } from '#config/object-index.ts'
import type { ConfigDelta } from '#config/object-index.ts'
import type { Removals } from '#gitops/guard/guardrail.ts'
import type { ReadAt } from '#gitops/sync/compile-port.ts'
import type { AcceptedTree } from '#gitops/sync/reconcile.ts'
import type { CommitObjects } from '#gitops/git/objects/presence.ts'
import type { RawObject } from '#config/draft.ts'
import type { TreePaths } from '#config/free-path.ts'
import { NameLedger } from '#judge/requests/name-ledger.ts'
import { RecentChanges } from '#judge/requests/recent-changes.ts'
import { isTouchable, touchedBetween } from '#judge/requests/touched.ts'

/** A file of the tree, with the object that the compiler read in it; null: it reads none. */
class AcceptedFile implements SourceFile {
  readonly path: string
  readonly blobId: string
  readonly kind: SourceFile['kind']
  readonly sizeBytes: number
  readonly read: ReadFile | null

  constructor({ path, blobId, kind, sizeBytes }: SourceFile, read: ReadFile | null) {
    this.path = path
    this.blobId = blobId
    this.kind = kind
    this.sizeBytes = sizeBytes
    this.read = read
  }

  /** Made on demand, for a compiler that has forgotten the file: kept, it would double the text. */
  get bytes(): Uint8Array | null {
    return this.read === null ? null : Buffer.from(this.read.text)
  }
}

/** A commit that this node made on top of the accepted one. */
interface WrittenCommit extends Omit<AcceptedTree, 'files'> {
  /** Changed files by path; null: the file was removed. */
  readonly changes: ReadonlyMap<string, SourceFile | null>
}

/** Holds the accepted commit, and follows its successors. */
export class AcceptedConfig implements TreePaths {
  #commit: string | null = null
  #tree: string | null = null
  #files = new Map<string, AcceptedFile>()
  /** The same files, sorted by path. */
  #sorted: AcceptedFile[] = []
  /**
   * The list that the next call may reuse: a new one for each write costs much garbage collection.
   */
  #spare: SourceFile[] = []
  #index = ConfigIndex.empty
  /** Recent changes of names and pools by the API. */
  readonly recent: RecentChanges
  #names = new NameLedger()
  /** Paths of files and folders in lower case: a new file may not differ by case alone. */
  #taken = new Set<string>()

  constructor(clock: Clock) {
    this.recent = new RecentChanges(clock)
  }

  /** Id of the commit; null before the first. */
  get commit(): string | null {
    return this.#commit
  }

  get tree(): string | null {
    return this.#tree
  }

  get index(): ConfigIndex {
    return this.#index
  }

  get files(): ReadonlyMap<string, AcceptedFile> {
    return this.#files
  }

  /** Ledger of the names and the facts about each. */
  get names(): NameLedger {
    return this.#names
  }

  /** Resets to the state before the first commit, after a bug; recent changes stay known. */
  forget(): void {
    this.#commit = null
    this.#tree = null
    this.#files = new Map()
    this.#sorted = []
    this.#spare = []
    this.#taken = new Set()
    this.#index = ConfigIndex.empty
    this.#names = new NameLedger()
  }

  /** The objects that the commit needs; null before the first commit. */
  objects(): CommitObjects | null {
    if (this.#commit === null || this.#tree === null) return null
    const files = this.#sorted
    // Each write calls this: a new list of many thousands would be garbage at once.
    const findBlob: CommitObjects['findBlob'] = (test) => {
      for (let i = 0; i < files.length; i++) {
        const { read, blobId } = files[i]!
        if (read !== null && test(blobId)) return blobId
      }
      return undefined
    }
    return { commit: this.#commit, tree: this.#tree, findBlob }
  }

  /** The files that the compiler reads, sorted by path. */
  read(): ReadAt[] {
    return this.#sorted.flatMap(({ path, read }) => (read === null ? [] : { path, file: read }))
  }

  /**
   * The files of this commit with `changes`, sorted by path; null removes a file.
   *
   * @returns a list that the next call overwrites
   */
  filesWith<File extends SourceFile>(
    changes: ReadonlyMap<string, File | null>,
  ): readonly (AcceptedFile | File)[] {
    const before = this.#sorted
    const files = this.#spare as (AcceptedFile | File)[]
    let at = 0
    let count = 0
    const keepUpTo = (end: number): void => {
      while (at < end) files[count++] = before[at++]!
    }
    for (const [path, file] of [...changes].sort(([a], [b]) => byCodeUnits(a, b))) {
      keepUpTo(lowerBound(before.length, (i) => before[i]!.path < path))
      if (before[at]?.path === path) at++
      if (file !== null) files[count++] = file
    }
    keepUpTo(before.length)
    files.length = count
    return files
  }

  isTaken = (path: string): boolean => this.#taken.has(path.toLowerCase())

  isFile = (path: string): boolean => this.#files.has(path)

  rawOf = (entry: ConfigEntry): RawObject => {
    const text = this.#files.get(entry.path)?.read?.text
    assert(text !== undefined, 'an accepted object has a file')
    return readYaml(text).value as RawObject
  }

  /**
   * Replaces the commit by one that another writer made.
   *
   * @returns what is new in it
   */
  replace({ commit, tree, files, read, removals }: AcceptedTree): ConfigDelta {
    const readAt = new Map(read.map(({ path, file }) => [path, file]))
    const next = new Map<string, AcceptedFile>()
    const entries: ConfigEntry[] = []
    this.#taken = new Set()
    for (const source of files) {
      const file = this.#take(source, readAt.get(source.path))
      next.set(source.path, file)
      const entry = this.#entryOf(file)
      if (entry !== undefined) entries.push(entry)
    }
    this.#files = next
    this.#spare = []
    this.#sorted = [...next.values()].sort((a, b) => byCodeUnits(a.path, b.path))
    return this.#advance(commit, tree, this.#index.deltaTo(commit, entries), removals)
  }

  extend({ commit, tree, changes, read, removals }: WrittenCommit): ConfigDelta {
    assert(commit !== this.#commit, 'a write makes another commit')
    assert(changes.size > 0, 'a commit of this node changes a file')
    const changed: ConfigEntry[] = []
    const gone: ConfigEntry[] = []
    const taken = new Map<string, AcceptedFile | null>()
    for (const [path, source] of changes) {
      const file = this.#files.get(path)
      const old = file === undefined ? undefined : this.#entryOf(file)
      assert(source === null || source.path === path, 'a file is listed under its own path')
      if (source === null) {
        this.#files.delete(path)
        this.#taken.delete(path.toLowerCase())
        taken.set(path, null)
      } else {
        const at = lowerBound(read.length, (i) => read[i]!.path < path)
        const next = this.#take(source, read[at]?.path === path ? read[at].file : undefined)
        this.#files.set(path, next)
        taken.set(path, next)
        const entry = this.#entryOf(next)
        if (entry !== undefined) changed.push(entry)
      }
      if (old !== undefined) gone.push(old)
    }
    const before = this.#sorted
    this.#sorted = this.filesWith(taken) as AcceptedFile[]
    this.#spare = before
    const kept = new Set(changed.map(({ kind, uid }) => `${kind} ${uid}`))
    const removed = gone.filter(({ kind, uid }) => !kept.has(`${kind} ${uid}`))
    return this.#advance(commit, tree, { revision: commit, changed, removed }, removals)
  }

  #advance(
    commit: string,
    tree: string,
    { changed, removed }: ConfigDelta,
    removals: Removals,
  ): ConfigDelta {
    this.#note({ changed, removed }, removals)
    const ids = removed.map(({ kind, uid }) => ({ kind, uid }))
    const delta = { revision: commit, changed, removed: ids }
    this.#commit = commit
    this.#tree = tree
    this.#index = this.#index.with(delta)
    assert(this.#index.revision === commit, 'the objects are those of the accepted commit')
    return delta
  }

  #note({ changed, removed }: Pick<ConfigDelta, 'changed' | 'removed'>, removals: Removals): void {
    const now = changed.filter(({ kind }) => isTouchable(kind))
    const gone = removed.filter(({ kind }) => isTouchable(kind))
    const before = [...now, ...gone]
      .map(({ kind, uid }) => this.#index.get(kind, uid))
      .filter((entry) => entry !== undefined)
    const touched = touchedBetween(before, now, this.#names)
    this.#names.apply(touched)
    // The first commit changes nothing, nor does one that is read again.
    if (this.#commit === null) return
    if (removals === 'override') this.recent.forget()
    else if (removals === 'api') this.recent.record(touched)
    // The guardrail for commits has judged what a push changed.
    else this.recent.settle(touched)
  }

  #take(source: SourceFile, read: ReadFile | undefined): AcceptedFile {
    const { path } = source
    for (let end = path.length; end > 0; end = path.lastIndexOf('/', end - 1)) {
      const folder = path.slice(0, end).toLowerCase()
      if (this.#taken.has(folder)) break
      this.#taken.add(folder)
    }
    return new AcceptedFile(source, read ?? null)
  }

  #entryOf({ path, blobId, read }: AcceptedFile): ConfigEntry | undefined {
    if (read?.kind === undefined || read.object === undefined) return undefined
    const old = this.#known(path, blobId)
    return old ?? configEntry(path, blobId, read.kind, read.object)
  }

  /** The entry with the same content at the same path: readers need no copy of their own. */
  #known(path: string, blobId: string): ConfigEntry | undefined {
    const before = this.#files.get(path)
    if (before?.blobId !== blobId || before.read?.kind === undefined) return undefined
    const { kind, object, memo } = before.read
    const entry = object === undefined ? undefined : this.#index.get(kind, memo.uid)
    return entry?.blobId === blobId && entry.path === path ? entry : undefined
  }
}
