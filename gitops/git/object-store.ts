// Any object of a repository on disk, loose or packed, also while git moves it from one to the
// other.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { inflateSync } from 'node:zlib'
import { gitLimits } from '#gitops/limits.ts'
import { PackSet } from './pack-set.ts'
import type { StoredObject } from './pack-set.ts'

/** Git knows it everywhere, so nothing needs to have stored it. */
const emptyTree = '4b825dc642cb6eb9a060e54bf8d69288fbee4904'

export class ObjectStore {
  readonly #gitdir: string
  readonly #packs: PackSet

  constructor(gitdir: string) {
    this.#gitdir = gitdir
    this.#packs = new PackSet(gitdir)
  }

  /**
   * Not checked against its id.
   *
   * @returns undefined when the repository does not have it
   * @throws the file system's error, or what is wrong with the object
   */
  read(oid: string): StoredObject | undefined {
    try {
      const found = this.#look(oid)
      if (found !== undefined) return found
    } catch {
      // A pack may be gone from under us; what is wrong with the object shows again.
      this.#packs.close()
    }
    // It may have been packed, or its pack replaced, since the last look; or been let out of a pack
    // that went, which is where git puts what no ref reaches.
    this.#packs.rescan()
    const tree: StoredObject = { type: 'tree', content: Buffer.alloc(0) }
    return this.#look(oid) ?? (oid === emptyTree ? tree : undefined)
  }

  #look(oid: string): StoredObject | undefined {
    const base = (id: string): StoredObject | undefined => this.read(id)
    return readLoose(this.#gitdir, oid) ?? this.#packs.read(oid, base)
  }
}

function readLoose(gitdir: string, oid: string): StoredObject | undefined {
  let deflated
  try {
    deflated = readFileSync(join(gitdir, 'objects', oid.slice(0, 2), oid.slice(2)))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
  const whole = inflateSync(deflated, { maxOutputLength: gitLimits.objectBytesMax })
  const end = whole.indexOf(0)
  const header = /^(commit|tree|blob|tag) (\d+)$/.exec(
    whole.toString('latin1', 0, Math.min(end, 32)),
  )
  const content = whole.subarray(end + 1)
  if (header === null || Number(header[2]) !== content.length) {
    throw new Error('it is no loose object')
  }
  const type = header[1] as StoredObject['type']
  // What zlib gives of a small file is a piece of 16 kilobytes, which would stay as long as it.
  return { type, content: content.length < 4_096 ? Buffer.from(content) : content }
}
