// Reads any object of a repository on disk, loose or packed, also while git repacks it.
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { gitLimits } from '#gitops/limits.ts'
import { readLooseObject } from './loose-object.ts'
import { Oversized } from './oversized.ts'
import { PackSet } from './pack-set.ts'
import type { StoredObject } from './pack-set.ts'

/** The empty tree. Git knows it everywhere, so no repository needs to have stored it. */
const emptyTree = '4b825dc642cb6eb9a060e54bf8d69288fbee4904'

export class ObjectStore {
  readonly #objects: string
  readonly #packs: PackSet
  /** True when the last object had no file: objects read together are mostly packed together. */
  #arePacked = false

  /** @param objects where git keeps the objects of a push until the push is taken */
  constructor(gitdir: string, objects = join(gitdir, 'objects')) {
    this.#objects = objects
    this.#packs = new PackSet(objects)
  }

  /**
   * Not checked against its id.
   *
   * @returns undefined when the repository does not have it
   * @throws Oversized, the file system's error, or what is wrong with the object
   */
  read(oid: string, bytesMax: number = gitLimits.objectBytesMax): StoredObject | undefined {
    try {
      const found = this.#look(oid, bytesMax)
      if (found !== undefined) return found
    } catch (error) {
      if (error instanceof Oversized) throw error
      // The pack may have been removed meanwhile: a fault of the object itself shows again below.
      this.#packs.close()
    }
    // Since the last look the object may have been packed, its pack replaced, or the object
    // unpacked by git because no ref reaches it.
    this.#packs.rescan()
    const tree: StoredObject = { type: 'tree', content: Buffer.alloc(0) }
    return this.#look(oid, bytesMax) ?? (oid === emptyTree ? tree : undefined)
  }

  /** Lists the packs again; `has` does not do so. */
  rescan(): void {
    this.#packs.rescan()
  }

  /** Whether the object has a file, or is in a pack of the last look. */
  has(oid: string): boolean {
    if (oid === emptyTree) return true
    let fault: Error | undefined
    try {
      // Packs are asked first: most objects are in packs, whose indices are in memory.
      if (this.#packs.has(oid)) return true
    } catch (error) {
      fault = error as Error
    }
    const file = statSync(fileOf(this.#objects, oid), { throwIfNoEntry: false })
    if (file !== undefined && file.size > 0) return true
    if (fault !== undefined) throw fault
    return false
  }

  #look(oid: string, bytesMax: number): StoredObject | undefined {
    const base = (id: string): StoredObject | undefined => this.read(id)
    if (this.#arePacked) {
      try {
        const packed = this.#packs.read(oid, base, bytesMax)
        if (packed !== undefined) return packed
      } catch (error) {
        if (error instanceof Oversized) throw error
        // The object may have a file as well; if it has none, the fault of the pack shows again.
      }
    }
    const loose = readLooseObject(fileOf(this.#objects, oid), bytesMax)
    this.#arePacked = loose === undefined
    return loose ?? this.#packs.read(oid, base, bytesMax)
  }
}

export function loosePath(gitdir: string, oid: string): string {
  return fileOf(join(gitdir, 'objects'), oid)
}

function fileOf(objects: string, oid: string): string {
  return join(objects, oid.slice(0, 2), oid.slice(2))
}
