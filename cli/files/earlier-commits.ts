// Lists what answered before a commit, as far as the history of a checkout tells.
import { earlierIn } from '#gitops/guard/history.ts'
import type { Blobs, EarlierStates } from '#gitops/guard/earlier.ts'
import { isRead } from '#compiler/read/layout.ts'
import type { SourceFile } from '#compiler/read/source.ts'
import type { GitPlace } from './git-tree.ts'

/** Before a commit, in the place of the checkout. */
export async function earlierCommits(
  place: Pick<GitPlace, 'graph' | 'driver' | 'place'>,
  commit: string,
  nowMs: number,
): Promise<EarlierStates> {
  const history = { graph: place.graph, blobsOf: (tree: string) => blobsIn(place, tree) }
  return await earlierIn(history, commit, nowMs)
}

/** Of the configuration in a tree; undefined: it cannot be read. */
export async function blobsIn(
  { driver, place }: Pick<GitPlace, 'driver' | 'place'>,
  tree: string,
): Promise<Blobs | undefined> {
  const files = await driver.readTree(tree)
  if (!files.ok) return undefined
  const own = files.value.filter(({ path }) => path.startsWith(place))
  return readBlobs(own.map(({ path, oid }) => [path.slice(place.length), oid]))
}

export function blobsOfFiles(files: readonly SourceFile[]): Blobs {
  return readBlobs(files.map(({ path, blobId }) => [path, blobId]))
}

const readBlobs = (files: readonly (readonly [path: string, oid: string])[]): Blobs =>
  new Map(files.filter(([path]) => isRead(path)))
