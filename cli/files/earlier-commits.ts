// Lists what answered before a commit, as far as the history of a checkout tells.
import { earlierIn } from '#gitops/guard/history.ts'
import { AnsweredCommits } from '#gitops/guard/answered.ts'
import type { AnsweredParts } from '#gitops/guard/answered.ts'
import { signersOfRange } from '#gitops/guard/override-signers.ts'
import { candidatesFor, changedPaths } from '#gitops/guard/earlier.ts'
import type { Answered, Blobs, EarlierStates } from '#gitops/guard/earlier.ts'
import type { AllowedSigner } from '#gitops/trust/allowed-signers.ts'
import { isRead } from '#compiler/read/layout.ts'
import type { SourceFile } from '#compiler/read/source.ts'
import type { GitPlace } from '#gitops/checkout/git-tree.ts'
import { attestedIn } from './signatures.ts'

/** Before a commit, in the place of the checkout. */
export async function earlierCommits(
  place: Pick<GitPlace, 'graph' | 'driver' | 'place'>,
  commit: string,
  nowMs: number,
): Promise<EarlierStates> {
  const history = { graph: place.graph, blobsOf: (tree: string) => blobsIn(place, tree) }
  return await earlierIn(history, commit, nowMs)
}

/**
 * Which of them have answered, as nodes of a remote say it.
 *
 * @param signers null: all are believed
 */
export function answeredIn(
  place: GitPlace,
  outlineOf: AnsweredParts['outlineOf'],
  signers: readonly AllowedSigner[] | null,
): Answered {
  const { graph } = place
  const earlier: AnsweredParts['earlier'] = async (from, to, answered) => {
    const [now, next] = [await blobsOfCommit(place, from), await blobsOfCommit(place, to)]
    const commit = await graph.commit(to)
    if (now === undefined || next === undefined || !commit.ok) return []
    const states = await earlierCommits(place, from, commit.value.committer.seconds * 1_000)
    const changed = [...changedPaths(now, next)]
    return await candidatesFor(states, now, changed, (tree) => blobsIn(place, tree), answered)
  }
  const signersIn: AnsweredParts['signersOfRange'] = async (from, to) => {
    const found = await signersOfRange(attestedIn(place), from, to, signers)
    return found.ok ? found.value : undefined
  }
  return new AnsweredCommits({ graph, outlineOf, signersOfRange: signersIn, earlier }).has
}

export async function blobsOfCommit(place: GitPlace, commit: string): Promise<Blobs | undefined> {
  const found = await place.graph.commit(commit)
  return found.ok ? await blobsIn(place, found.value.tree) : undefined
}

/** Blob ids of the configuration in a tree; undefined: it cannot be read. */
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
