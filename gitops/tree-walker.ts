// Every file of a tree, with the folders that did not change since the last walk remembered.
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import type { EntryKind, ObjectError, TreeFile } from './driver.ts'
import { gitLimits } from './limits.ts'
import { isFolder, parseTree } from './tree-object.ts'
import type { TreeEntry } from './tree-object.ts'

interface Walk {
  readonly files: TreeFile[]
  readonly folders: Map<string, readonly TreeEntry[]>
  visits: number
}
type ReadTree = (oid: string) => Promise<Result<Buffer, ObjectError>>

/**
 * Remembers folders by the id of their tree, so a changed file costs the reading of its parents
 * only.
 */
export class TreeWalker {
  readonly #read: ReadTree
  #known = new Map<string, readonly TreeEntry[]>()

  constructor(read: ReadTree) {
    this.#read = read
  }

  async walk(rootOid: string): Promise<Result<readonly TreeFile[], ObjectError>> {
    const walk: Walk = { files: [], folders: new Map(), visits: 0 }
    const failed = await this.#add(walk, '', rootOid, 0)
    if (failed !== undefined) return err(failed)
    // Only the last walk's folders stay, so that the memory follows the tree.
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
    const entries = await this.#entries(walk, oid, prefix)
    if (!entries.ok) return entries.error
    walk.folders.set(oid, entries.value)
    for (const entry of entries.value) {
      // A few tree objects can name each other many times over, so what is counted is the visits.
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

  async #entries(
    walk: Walk,
    oid: string,
    prefix: string,
  ): Promise<Result<readonly TreeEntry[], ObjectError>> {
    const known = walk.folders.get(oid) ?? this.#known.get(oid)
    if (known !== undefined) return ok(known)
    const raw = await this.#read(oid)
    if (!raw.ok) return raw
    const folder = prefix === '' ? 'the top folder' : `the folder "${prefix}"`
    if (raw.value.length > gitLimits.treeBytesMax)
      return err(refused(`${folder} has too many entries`))
    const entries = parseTree(raw.value)
    return entries.ok ? entries : err(refused(`${folder} ${entries.error}`))
  }
}

function refused(reason: string): ObjectError {
  return { kind: 'refused', reason: `The tree is not accepted: ${reason}.` }
}

function kindOf(mode: string): EntryKind {
  if (mode === '120000') return 'symlink'
  return mode === '160000' ? 'submodule' : 'file'
}
