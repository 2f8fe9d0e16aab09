// Writes a new tree from an old one and changed paths; only the folders on those paths are written.
import { assert } from '#lib/assert.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { getOrInsert } from '#lib/sequence/get-or-insert.ts'
import type { ObjectError } from '#gitops/git/objects/driver.ts'
import { editTree, foldersIn } from './tree-edit.ts'
import type { TreeChange } from './tree-edit.ts'
import { formatTree, parseTree } from '#gitops/git/objects/tree-object.ts'

interface TreeStore {
  readonly readTree: (oid: string) => Promise<Result<Uint8Array, ObjectError>>
  readonly write: (type: 'blob' | 'tree', content: Uint8Array) => string
}

/** Files to set (bytes) or to remove (null), by path with `/`. */
type FileChanges = ReadonlyMap<string, Uint8Array | null>

export async function writeChangedTree(
  baseTree: string | null,
  changes: FileChanges,
  store: TreeStore,
): Promise<Result<string, ObjectError>> {
  for (const path of changes.keys()) {
    if (!isCleanPath(path))
      return err({ kind: 'refused', reason: `"${path}" is not a path in a repository.` })
  }
  const root = await writeFolder(baseTree, changes, store)
  return root.ok ? ok(root.value ?? store.write('tree', new Uint8Array())) : root
}

/** @returns null when nothing is left in the folder: Git stores no empty folders */
async function writeFolder(
  base: string | null,
  changes: FileChanges,
  store: TreeStore,
): Promise<Result<string | null, ObjectError>> {
  const edits = new Map<string, TreeChange | null>()
  const below = new Map<string, Map<string, Uint8Array | null>>()
  for (const [path, bytes] of changes) {
    const slash = path.indexOf('/')
    if (slash !== -1) {
      const name = path.slice(0, slash)
      getOrInsert(below, name, () => new Map()).set(path.slice(slash + 1), bytes)
    } else if (bytes === null) edits.set(path, null)
    else edits.set(path, { oid: store.write('blob', bytes), isFolder: false })
  }
  const old = await readFolder(base, new Set(below.keys()), store)
  if (!old.ok) return old
  const { raw, folders } = old.value
  for (const [name, group] of below) {
    const folder = await writeFolder(folders.get(name) ?? null, group, store)
    if (!folder.ok) return folder
    edits.set(name, folder.value === null ? null : { oid: folder.value, isFolder: true })
  }
  const next = editTree(raw, edits)
  assert(next !== undefined, 'what was read is in order')
  return ok(next.length === 0 ? null : store.write('tree', next))
}

interface OldFolder {
  /** The tree object, in Git's order. */
  readonly raw: Uint8Array
  readonly folders: ReadonlyMap<string, string>
}

async function readFolder(
  oid: string | null,
  names: ReadonlySet<string>,
  store: TreeStore,
): Promise<Result<OldFolder, ObjectError>> {
  if (oid === null) return ok({ raw: new Uint8Array(), folders: new Map() })
  const read = await store.readTree(oid)
  if (!read.ok) return read
  const folders = foldersIn(read.value, names)
  if (folders !== undefined) return ok({ raw: read.value, folders })
  // The tree is not in Git's order: some other tool wrote it.
  const parsed = parseTree(read.value)
  if (!parsed.ok) return err({ kind: 'refused', reason: `Tree ${oid} ${parsed.error}.` })
  const raw = formatTree(parsed.value)
  return ok({ raw, folders: foldersIn(raw, names) ?? new Map() })
}

function isCleanPath(path: string): boolean {
  // The same names that the reader refuses.
  if (/[\x00-\x1f\x7f]/.test(path) || path.length > 4_096) return false
  return path
    .split('/')
    .every((part) => part !== '' && part !== '.' && part !== '..' && part.toLowerCase() !== '.git')
}
