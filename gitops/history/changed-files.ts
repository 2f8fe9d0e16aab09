// Compares two trees, and opens only folders that differ.
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import type { GitDriver, ObjectError } from '#gitops/git/objects/driver.ts'
import { isFolder } from '#gitops/git/objects/tree-object.ts'
import type { TreeEntry } from '#gitops/git/objects/tree-object.ts'
import { gitLimits } from '#gitops/limits.ts'

export interface ChangedFile {
  readonly path: string
  /** Ids of blobs; null: the file does not exist on that side. */
  readonly before: string | null
  readonly after: string | null
}

/**
 * Lists the changed files, ordered by path.
 *
 * @param before null: an empty tree
 */
export async function changedFiles(
  driver: Pick<GitDriver, 'readFolder'>,
  before: string | null,
  after: string,
): Promise<Result<readonly ChangedFile[], ObjectError>> {
  const files: ChangedFile[] = []
  const compare = async (
    prefix: string,
    ids: readonly [string | null, string | null],
    depth: number,
  ): Promise<ObjectError | undefined> => {
    if (ids[0] === ids[1]) return undefined
    if (depth > gitLimits.treeDepthMax) return { kind: 'refused', reason: 'The tree is too deep.' }
    const sides: Map<string, TreeEntry>[] = []
    for (const id of ids) {
      const read = id === null ? ok([]) : await driver.readFolder(id)
      if (!read.ok) return read.error
      sides.push(new Map(read.value.map((entry) => [entry.name, entry])))
    }
    const [old, now] = sides as [Map<string, TreeEntry>, Map<string, TreeEntry>]
    for (const name of [...new Set([...old.keys(), ...now.keys()])].toSorted()) {
      const pair = [old.get(name), now.get(name)] as const
      const [a, b] = pair.map((entry) => entry?.oid ?? null) as [string | null, string | null]
      if (a === b && pair[0]?.mode === pair[1]?.mode) continue
      const path = prefix + name
      const folders = pair.map((one) => (one !== undefined && isFolder(one) ? one.oid : null))
      const fault = await compare(`${path}/`, folders as [string | null, string | null], depth + 1)
      if (fault !== undefined) return fault
      const [from, to] = pair.map((one) => (one === undefined || isFolder(one) ? null : one.oid))
      if (from !== to) files.push({ path, before: from ?? null, after: to ?? null })
    }
    return undefined
  }
  const fault = await compare('', [before, after], 0)
  return fault === undefined ? ok(files) : err(fault)
}
