// Remembers which commits answered lately, so that a change which goes back to one is a repair.
import { gitLimits } from '#gitops/limits.ts'

/** A commit that answered until another one took its place. */
export interface EarlierState {
  readonly commit: string
  readonly tree: string
  /** Unix epoch. */
  readonly untilMs: number
}

/** A commit takes the place of another one. */
export interface Succession {
  readonly before: Pick<EarlierState, 'commit' | 'tree'>
  readonly tree: string
  /** All of it are requests to the API that nobody had to vouch for: those of minutes are one. */
  readonly isRoutine: boolean
  /** The commit that it goes back to, as the guardrails have found; '': they found none. */
  readonly backTo: string
}

/** Oldest first. */
export type EarlierStates = readonly EarlierState[]

/**
 * What was taken back leaves the list with all that came after it. So the repair of a bad change
 * needs nobody to vouch for it, and the same change once more does.
 */
export function earlierAfter(
  earlier: EarlierStates,
  { before, tree, isRoutine, backTo }: Succession,
  nowMs: number,
): EarlierStates {
  const young = stillEarlier(earlier, nowMs)
  if (tree === before.tree) return young
  const at = young.findIndex((one) => one.commit === backTo || one.tree === tree)
  if (at >= 0) return young.slice(0, at)
  const last = young.at(-1)
  const isCounted = last !== undefined && nowMs - last.untilMs < gitLimits.removalWindowMs
  if (isRoutine && isCounted) return young
  return [...young, { commit: before.commit, tree: before.tree, untilMs: nowMs }].slice(
    -gitLimits.earlierStatesMax,
  )
}

/** A clock that was set back makes nothing older. */
export function stillEarlier(earlier: EarlierStates, nowMs: number): EarlierStates {
  return earlier.filter(({ untilMs }) => nowMs - untilMs < gitLimits.earlierStateMs)
}

/** Object ids of what the compiler reads, by path. */
export type Blobs = ReadonlyMap<string, string>

export function* changedPaths(before: Blobs, after: Blobs): Generator<string> {
  for (const [path, oid] of before) if (after.get(path) !== oid) yield path
  for (const path of after.keys()) if (!before.has(path)) yield path
}

/** undefined: the tree cannot be read. */
export type TreeBlobs = (tree: string) => Promise<Blobs | undefined>

/**
 * Those of the earlier states that a change can go back to, oldest first: of each file that it
 * changes, the last one in which that was another. What was before that is no repair: a pool grows
 * member by member, and the loss of all but the first one is a mistake.
 */
export async function candidatesFor(
  earlier: EarlierStates,
  now: Blobs,
  changed: readonly string[],
  blobsOf: TreeBlobs,
): Promise<EarlierStates> {
  const found: EarlierState[] = []
  let open = changed
  for (const state of earlier.toReversed()) {
    if (open.length === 0 || found.length === gitLimits.earlierLooksMax) break
    const blobs = await blobsOf(state.tree)
    if (blobs === undefined) continue
    const same = open.filter((path) => blobs.get(path) === now.get(path))
    if (same.length < open.length) found.unshift(state)
    open = same
  }
  return found
}
