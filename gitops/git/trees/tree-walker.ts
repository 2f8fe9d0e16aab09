// Lists the files of a tree; folders unchanged since the last walk come from a cache.
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import type { EntryKind, ObjectError, TreeFile } from '#gitops/git/objects/driver.ts'
import { gitLimits } from '#gitops/limits.ts'
import { isFolder, parseTree } from '#gitops/git/objects/tree-object.ts'
import type { TreeEntry } from '#gitops/git/objects/tree-object.ts'

interface Folder {
  readonly raw: Uint8Array
  readonly entries: readonly TreeEntry[]
}

interface Walk {
  readonly files: TreeFile[]
  readonly folders: Map<string, Folder>
  visits: number
}
type ReadTree = (oid: string) => Promise<Result<Buffer, ObjectError>>

/** Remembers folders by id, so that a changed file costs the reading of its parents only. */
export class TreeWalker {
  readonly #read: ReadTree
  #known: ReadonlyMap<string, Folder> = new Map()

  constructor(read: ReadTree) {
    this.#read = read
  }

  /** The raw folder, if the last walk read it; otherwise the next write would have to. */
  rawOf(oid: string): Uint8Array | undefined {
    return this.#known.get(oid)?.raw
  }

  async walk(rootOid: string): Promise<Result<readonly TreeFile[], ObjectError>> {
    const walk: Walk = { files: [], folders: new Map(), visits: 0 }
    const failed = await this.#add(walk, '', rootOid, 0)
    if (failed !== undefined) return err(failed)
    // Only folders of the last walk stay, so that memory follows the size of the tree.
    this.#known = walk.folders
    return ok(walk.files)
  }

  async #add(
    walk: Walk,
    prefix: string,
    oid: string,
    depth: number,
  ): Promise<ObjectError | undefined> {
    if (depth > gitLimits.treeDepthMax) {
      return refused(`"${prefix.slice(0, 200)}" is deeper than ${gitLimits.treeDepthMax} folders`)
    }
    const folder = await this.#folder(walk, oid, prefix)
    if (!folder.ok) return folder.error
    walk.folders.set(oid, folder.value)
    for (const entry of folder.value.entries) {
      // Visits are counted, not objects: a few trees can name each other very many times.
      if (++walk.visits > gitLimits.treeEntriesMax) {
        return refused(`the commit has more than ${gitLimits.treeEntriesMax} files and folders`)
      }
      const path = prefix + entry.name
      if (isFolder(entry)) {
        const failed = await this.#add(walk, `${path}/`, entry.oid, depth + 1)
        if (failed !== undefined) return failed
        continue
      }
      walk.files.push({ path, mode: entry.mode, oid: entry.oid, kind: kindOf(entry.mode) })
    }
    return undefined
  }

  async #folder(walk: Walk, oid: string, prefix: string): Promise<Result<Folder, ObjectError>> {
    const known = walk.folders.get(oid) ?? this.#known.get(oid)
    if (known !== undefined) return ok(known)
    const raw = await this.#read(oid)
    if (!raw.ok) return raw
    const folder = prefix === '' ? 'the top folder' : `the folder "${prefix}"`
    if (raw.value.length > gitLimits.treeBytesMax)
      return err(refused(`${folder} has too many entries`))
    const entries = parseTree(raw.value)
    if (!entries.ok) return err(refused(`${folder} ${entries.error}`))
    return ok({ raw: raw.value, entries: entries.value })
  }
}

function refused(reason: string): ObjectError {
  return { kind: 'refused', reason: `The tree is not accepted: ${reason}.` }
}

function kindOf(mode: string): EntryKind {
  if (mode === '120000') return 'symlink'
  return mode === '160000' ? 'submodule' : 'file'
}
