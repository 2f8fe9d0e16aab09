// The set of packs of a repository, refreshed while git repacks and pushes add some.
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { quietMs } from '#lib/memory/memory-releases.ts'
import { gitLimits } from '#gitops/limits.ts'
import { Oversized } from './oversized.ts'
import { applyDelta, deltaHead, PackFile } from './pack-file.ts'
import type { PackEntry, PackedType } from './pack-file.ts'

export interface StoredObject {
  readonly type: PackedType
  readonly content: Buffer
}

interface Place {
  readonly pack: PackFile
  readonly at: number
}

/**
 * Packs are closed after so long without a read: a replaced pack occupies the disk while it is
 * open, and the pieces in memory are megabytes. They are gone before the thread gives memory back.
 */
const idleMs = quietMs / 2

export class PackSet {
  readonly #folder: string
  /** Packs by name without its ending; undefined until something is looked for in the pack. */
  readonly #packs = new Map<string, PackFile | undefined>()
  /** Objects read just before: deltas are often made against these. */
  readonly #recent = new Map<PackFile, Map<number, StoredObject>>()
  #recentBytes = 0
  #idle: NodeJS.Timeout | undefined

  /** @param objects a folder `objects` of a repository, or one like it */
  constructor(objects: string) {
    this.#folder = join(objects, 'pack')
  }

  /** Lists the packs again. */
  rescan(): void {
    // A pack without an index is still being written.
    const names = new Set(namesOf(this.#folder, 'idx'))
    for (const [name, pack] of this.#packs) if (!names.has(name)) this.#drop(name, pack)
    for (const name of names) {
      if (!this.#packs.has(name)) this.#packs.set(name, undefined)
    }
  }

  /**
   * @param readElsewhere reads the base of a delta that is not in the same pack
   *
   * @returns undefined when no pack of the last look has it
   * @throws Oversized, the file system's error, or what is wrong with the object; or with a pack
   * that may have it, when no other one has
   */
  read(
    oid: string,
    readElsewhere: (base: string) => StoredObject | undefined,
    bytesMax: number,
  ): StoredObject | undefined {
    const place = this.#find(oid)
    if (place === undefined) return undefined
    this.#idle?.refresh()
    const deltas: { place: Place; entry: PackEntry; delta?: Buffer }[] = []
    let next = place
    let object: StoredObject | undefined
    while (object === undefined) {
      object = this.#recent.get(next.pack)?.get(next.at)
      const isAsked = deltas.length === 0
      if (isAsked && object !== undefined) checkSize(object.content.length, bytesMax)
      if (object !== undefined) break
      const entry = next.pack.entry(next.at)
      if (entry.kind === 'whole') {
        if (isAsked) checkSize(entry.sizeBytes, bytesMax)
        object = { type: entry.type, content: next.pack.inflate(entry) }
        this.#remember(next, object)
        break
      }
      if (isAsked) {
        // The delta says how large the object is: checked before any base is read.
        const delta = next.pack.inflate(entry)
        checkSize(deltaHead(delta).resultBytes, bytesMax)
        deltas.push({ place: next, entry, delta })
      } else deltas.push({ place: next, entry })
      if (deltas.length > gitLimits.deltasMax) throw new Error('in its pack it has too many deltas')
      if (entry.kind === 'delta') {
        next = { pack: next.pack, at: entry.base }
        continue
      }
      const at = next.pack.find(entry.base)
      if (at === undefined) object = readElsewhere(entry.base)
      else next = { pack: next.pack, at }
      if (at === undefined && object === undefined)
        throw new Error(`its base ${entry.base} is gone`)
    }
    for (const { place, entry, delta } of deltas.reverse()) {
      const content = applyDelta(object.content, delta ?? place.pack.inflate(entry))
      object = { type: object.type, content }
      this.#remember(place, object)
    }
    return object
  }

  /** Whether a pack of the last look has the object. @throws as `read` does */
  has(oid: string): boolean {
    return this.#search((pack) => pack.has(oid) || undefined) !== undefined
  }

  /** Closes all packs; the next read opens them again. */
  close(): void {
    clearTimeout(this.#idle)
    this.#idle = undefined
    this.#forget()
    for (const [name, pack] of this.#packs) {
      pack?.close()
      this.#packs.set(name, undefined)
    }
  }

  #find(oid: string): Place | undefined {
    return this.#search((pack) => {
      const at = pack.find(oid)
      return at === undefined ? undefined : { pack, at }
    })
  }

  /**
   * Asks each pack.
   *
   * @returns the result of the first pack that has it
   */
  #search<T>(look: (pack: PackFile) => T | undefined): T | undefined {
    let fault: Error | undefined
    for (const [name, opened] of this.#packs) {
      try {
        const pack = opened ?? this.#open(name)
        const found = pack && look(pack)
        if (found !== undefined) return found
      } catch (error) {
        // A bad index hides the objects of its own pack, not those of others: the search goes on.
        fault ??= error as Error
      }
    }
    if (fault !== undefined) throw fault
    return undefined
  }

  #open(name: string): PackFile | undefined {
    try {
      const pack = new PackFile(join(this.#folder, name))
      this.#packs.set(name, pack)
      this.#idle ??= setTimeout(() => this.close(), idleMs).unref()
      return pack
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
      // The pack was replaced since the last look.
      this.#packs.delete(name)
      return undefined
    }
  }

  #drop(name: string, pack: PackFile | undefined): void {
    this.#packs.delete(name)
    if (pack === undefined) return
    this.#forget()
    pack.close()
  }

  #remember({ pack, at }: Place, object: StoredObject): void {
    this.#recentBytes += object.content.length
    if (this.#recentBytes > gitLimits.recentObjectsBytesMax) {
      this.#forget()
      this.#recentBytes = object.content.length
    }
    const objects = this.#recent.get(pack) ?? new Map<number, StoredObject>()
    this.#recent.set(pack, objects.set(at, object))
  }

  #forget(): void {
    this.#recent.clear()
    this.#recentBytes = 0
  }
}

function checkSize(sizeBytes: number, bytesMax: number): void {
  if (sizeBytes > bytesMax) throw new Oversized(sizeBytes)
}

/** Counts the packs of the repository. */
export const packCount = (gitdir: string): number =>
  namesOf(join(gitdir, 'objects', 'pack'), 'pack').length

/** Names of finished packs; git writes others as `.tmp-…`. `git maintenance` makes `loose-…`. */
const finished = /^((?:pack|loose)-[0-9a-f]{40})\.(idx|pack)$/

/** Names of packs, without their ending. */
function namesOf(folder: string, ending: 'idx' | 'pack'): string[] {
  try {
    const matches = readdirSync(folder).map((file) => finished.exec(file))
    return matches.flatMap((match) => (match?.[2] === ending ? [match[1]!] : []))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}
