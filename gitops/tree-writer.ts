// A new tree from an old one and a few changed paths: only the folders on those paths are written.
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import type { ObjectError } from './driver.ts'
import { formatTree, isFolder, parseTree } from './tree-object.ts'
import type { TreeEntry } from './tree-object.ts'

export interface TreeStore {
  readonly readTree: (oid: string) => Promise<Result<Uint8Array, ObjectError>>
  readonly write: (type: 'blob' | 'tree', content: Uint8Array) => string
}

/** Files to set (bytes) or to remove (null), by path with `/`. */
export type FileChanges = ReadonlyMap<string, Uint8Array | null>

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

/** @returns null when nothing is left in the folder: Git has no empty folders. */
async function writeFolder(
  base: string | null,
  changes: FileChanges,
  store: TreeStore,
): Promise<Result<string | null, ObjectError>> {
  const old = await readFolder(base, store)
  if (!old.ok) return old
  const entries = old.value
  const below = new Map<string, Map<string, Uint8Array | null>>()
  for (const [path, bytes] of changes) {
    const slash = path.indexOf('/')
    if (slash !== -1) {
      const folder = path.slice(0, slash)
      const group = below.get(folder) ?? new Map<string, Uint8Array | null>()
      below.set(folder, group.set(path.slice(slash + 1), bytes))
    } else if (bytes === null) {
      entries.delete(path)
    } else {
      const kept = entries.get(path)
      const mode = kept !== undefined && kept.mode.startsWith('100') ? kept.mode : '100644'
      entries.set(path, { mode, name: path, oid: store.write('blob', bytes) })
    }
  }
  for (const [name, group] of below) {
    const kept = entries.get(name)
    const folder = await writeFolder(
      kept !== undefined && isFolder(kept) ? kept.oid : null,
      group,
      store,
    )
    if (!folder.ok) return folder
    if (folder.value === null) entries.delete(name)
    else entries.set(name, { mode: '40000', name, oid: folder.value })
  }
  return ok(entries.size === 0 ? null : store.write('tree', formatTree(entries.values())))
}

async function readFolder(
  oid: string | null,
  store: TreeStore,
): Promise<Result<Map<string, TreeEntry>, ObjectError>> {
  if (oid === null) return ok(new Map())
  const raw = await store.readTree(oid)
  if (!raw.ok) return raw
  const parsed = parseTree(raw.value)
  if (!parsed.ok) return err({ kind: 'refused', reason: `Tree ${oid} ${parsed.error}.` })
  return ok(new Map(parsed.value.map((entry) => [entry.name, entry])))
}

function isCleanPath(path: string): boolean {
  // The same names that the reader refuses.
  if (/[\x00-\x1f\x7f]/.test(path) || path.length > 4_096) return false
  return path
    .split('/')
    .every((part) => part !== '' && part !== '.' && part !== '..' && part.toLowerCase() !== '.git')
}
