// Lists the commits that answered before a commit, from the history alone: equal on all nodes that
// have it.
import type { CommitGraph } from '#gitops/git/commit-graph.ts'
import { gitLimits } from '#gitops/limits.ts'
import { committer } from '#gitops/message/commit-message.ts'
import { changedPaths, earlierAfter, isTakenBack, stillEarlier } from './earlier.ts'
import type { Blobs, EarlierState, EarlierStates, TreeBlobs } from './earlier.ts'

interface History {
  readonly graph: CommitGraph
  readonly blobsOf: TreeBlobs
}

const walkedMax = 64

interface Passed {
  readonly commit: string
  readonly tree: string
  readonly atMs: number
  readonly isRoutine: boolean
}

/**
 * Lists the commits below one, along first parents, each until the time of the next. A commit that
 * was held may be among them: see `AnsweredCommits`.
 *
 * @param nowMs Unix epoch; states that answered within a day before then are listed. A commit that
 * claims to be older than those below it makes none of them older.
 */
export async function earlierIn(
  { graph, blobsOf }: History,
  commit: string,
  nowMs: number,
): Promise<EarlierStates> {
  let earlier: EarlierStates = []
  let before: (Passed & { readonly blobs: Blobs }) | undefined
  const known = new Map<string, Blobs>()
  let latestMs = nowMs
  for (const one of await lineTo(graph, commit, nowMs)) {
    latestMs = Math.max(latestMs, one.atMs)
    const blobs = await blobsOf(one.tree)
    if (blobs === undefined) break
    if (before !== undefined) {
      known.set(before.commit, before.blobs)
      const changed = [...changedPaths(before.blobs, blobs)]
      const isSame = (state: EarlierState): boolean =>
        !isTakenBack(state, changed) &&
        changed.every((path) => known.get(state.commit)?.get(path) === blobs.get(path))
      const to = changed.length === 0 ? undefined : earlier.findLast(isSame)?.commit
      const backs = to === undefined ? [] : [{ commit: to, paths: changed }]
      // A commit that alters no configuration answers with the tree before it.
      const tree = changed.length === 0 ? before.tree : one.tree
      const { isRoutine, atMs } = one
      earlier = earlierAfter(earlier, { before, tree, isRoutine, backs }, atMs)
      const kept = new Set(earlier.map((state) => state.commit))
      for (const each of known.keys()) if (!kept.has(each)) known.delete(each)
    }
    before = { ...one, blobs }
  }
  return stillEarlier(earlier, latestMs)
}

/**
 * Lists the commits up to one, oldest first; the first of them is older than the day that counts.
 */
export async function lineTo(
  graph: CommitGraph,
  head: string,
  nowMs: number,
): Promise<readonly Passed[]> {
  const line: Passed[] = []
  let next: string | undefined = head
  while (next !== undefined && line.length < walkedMax) {
    const found = await graph.commit(next)
    if (!found.ok) break
    const { tree, parents, override } = found.value
    const atMs = found.value.committer.seconds * 1_000
    const isRoutine = found.value.committer.name === committer && override === ''
    line.unshift({ commit: next, tree, atMs, isRoutine })
    next = nowMs - atMs < gitLimits.earlierStateMs ? parents[0] : undefined
  }
  return line
}
