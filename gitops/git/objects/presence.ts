// Checks that the objects of a commit are still in the repository: files may vanish while a node
// runs.
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { systemClock } from '#lib/clock.ts'
import type { ObjectStore } from './object-store.ts'
import { folderIdsIn } from './tree-object.ts'

export interface CommitObjects {
  readonly commit: string
  readonly tree: string
  /** The first blob of the files that belong to the configuration for which `test` is true. */
  readonly findBlob: (test: (oid: string) => boolean) => string | undefined
}

const loose = Array.from({ length: 256 }, (_, i) => i.toString(16).padStart(2, '0'))
/** All folders, those of loose objects first. */
const folderNames: readonly string[] = [...loose, 'pack']
/** Size of a table that is indexed by the code of a hex digit. */
const codes = 128
/**
 * A folder's time is trusted when it is this old: it may change twice within the resolution of the
 * file system's clock.
 */
const settledMs = 50

/**
 * Looks for each object once, and later lists the folders that have changed: cheap enough to be
 * asked before each write. Content is not read.
 */
export class Presence {
  readonly #gitdir: string
  readonly #store: ObjectStore
  readonly #rawOf: (tree: string) => Uint8Array | undefined
  /** Paths of the folders, in the order of `folderNames`. */
  readonly #folderPaths: readonly string[]
  /**
   * Times of the folders, in the same order, when all objects were there; undefined: they may not
   * be.
   */
  #stamps: Float64Array | undefined
  /** Names of the folders inside each folder, as of the last look. */
  #folders: ReadonlyMap<string, readonly string[]> = new Map()

  /** @param rawOf returns a folder (a tree object) that is in memory */
  constructor(gitdir: string, store: ObjectStore, rawOf: (tree: string) => Uint8Array | undefined) {
    this.#gitdir = gitdir
    this.#store = store
    this.#rawOf = rawOf
    this.#folderPaths = folderNames.map((folder) => join(gitdir, 'objects', folder))
  }

  /**
   * @returns an object that is gone; undefined when none is.
   * @throws as `ObjectStore.read` does
   */
  firstMissing({ commit, tree, findBlob }: CommitObjects): string | undefined {
    const stamps = this.#readStamps()
    const before = this.#stamps
    const isSame = (at: number): boolean => before !== undefined && stamps[at] === before[at]
    const isPackSame = isSame(loose.length)
    const changed = new Folders(loose.filter((_, at) => !isPackSame || !isSame(at)))
    const isListed = before === undefined ? () => false : this.#lists()
    // Cleared first: unless all are found, the next call looks for each object again.
    this.#stamps = undefined
    this.#store.rescan()
    const isGone = (oid: string): boolean =>
      changed.hasIdOf(oid) && !isListed(oid) && !this.#store.has(oid)
    const folders = new Map<string, readonly string[]>()
    const gone = isGone(commit) ? commit : this.#missingFolder(tree, isGone, folders)
    if (gone !== undefined) return gone
    const goneBlob = findBlob(isGone)
    if (goneBlob !== undefined) return goneBlob
    this.#stamps = stamps
    this.#folders = folders
    return undefined
  }

  #missingFolder(
    root: string,
    isGone: (oid: string) => boolean,
    folders: Map<string, readonly string[]>,
  ): string | undefined {
    const waiting = [root]
    for (let tree = waiting.pop(); tree !== undefined; tree = waiting.pop()) {
      if (folders.has(tree)) continue
      if (isGone(tree)) return tree
      const inside = this.#folders.get(tree) ?? this.#foldersIn(tree)
      if (inside === undefined) return tree
      folders.set(tree, inside)
      waiting.push(...inside)
    }
    return undefined
  }

  #foldersIn(tree: string): string[] | undefined {
    const raw = this.#rawOf(tree) ?? this.#store.read(tree)?.content
    return raw === undefined ? undefined : folderIdsIn(raw)
  }

  /** Answers whether an object has a file. Each folder is listed once, when it is asked for. */
  #lists(): (oid: string) => boolean {
    const files = new Map<string, ReadonlySet<string>>()
    return (oid) => {
      const folder = oid.slice(0, 2)
      let inside = files.get(folder)
      if (inside === undefined) {
        inside = new Set(namesIn(join(this.#gitdir, 'objects', folder)))
        files.set(folder, inside)
      }
      return inside.has(oid.slice(2))
    }
  }

  #readStamps(): Float64Array {
    const nowMs = systemClock.nowMs()
    const objects = join(this.#gitdir, 'objects')
    // Folders that exist: a young repository has few of the 256.
    const there = new Set(namesIn(objects))
    return Float64Array.from(this.#folderPaths, (path, at) => {
      if (!there.has(folderNames[at]!)) return -1
      const atMs = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? -1
      return Math.abs(nowMs - atMs) < settledMs ? NaN : atMs
    })
  }
}

/** A set of the 256 folders. A node asks it for each object of its configuration, at each write. */
class Folders {
  readonly #has = new Uint8Array(codes * codes)

  constructor(names: readonly string[]) {
    for (const name of names) this.#has[placeOf(name)] = 1
  }

  /** Whether the object would lie in one of these folders. */
  hasIdOf(oid: string): boolean {
    return this.#has[placeOf(oid)] === 1
  }
}

const placeOf = (oid: string): number => oid.charCodeAt(0) * codes + oid.charCodeAt(1)

/** @returns no names where the folder cannot be read */
function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}
