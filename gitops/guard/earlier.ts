// Remembers which commits answered lately, so that a change back to one of them counts as a repair.
import { gitLimits } from '#gitops/limits.ts'
import { judgeLimits } from '#judge/limits.ts'

/** A commit that answered until another one took its place. */
export interface EarlierState {
  readonly commit: string
  readonly tree: string
  /** Unix epoch. */
  readonly untilMs: number
  /** Paths of files of which a later change took back what they were then; left out: of none. */
  readonly takenBack?: readonly string[]
}

/** A commit takes the place of another one. */
export interface Succession {
  readonly before: Pick<EarlierState, 'commit' | 'tree'>
  readonly tree: string
  /**
   * True: it has only API requests without an override. All such requests within ten minutes count
   * as one change.
   */
  readonly isRoutine: boolean
  /** Left out: the guardrails have found no commit that it goes back to. */
  readonly backs?: readonly Back[]
}

/** A change, with the commits that it says it goes back to; see `CommitObject`. */
export interface NamedChange {
  readonly from: string
  readonly to: string
  readonly names: readonly string[]
  /** Whether what it does beyond the limits is again as that commit had it, by facts. */
  readonly isBack: (commit: string) => Promise<boolean>
}

/** What a change goes back to. */
export interface Repair {
  readonly state: EarlierState
  /** Files that it alters. */
  readonly paths: readonly string[]
}

/** A change goes back to a commit. */
export interface Back {
  readonly commit: string
  /** Paths of the files that the change alters. */
  readonly paths: readonly string[]
}

/** Oldest first. */
export type EarlierStates = readonly EarlierState[]

/**
 * What came after the commit that a change goes back to is no way back for the files of that
 * change. So the repair of a bad change needs nobody to vouch for it, the same change once more
 * does, and bad changes of other files can still be taken back, in any order.
 */
export function earlierAfter(
  earlier: EarlierStates,
  { before, tree, isRoutine, backs = [] }: Succession,
  nowMs: number,
): EarlierStates {
  const young = stillEarlier(earlier, nowMs)
  if (tree === before.tree) return young
  const whole = young.findIndex((one) => one.tree === tree && one.takenBack === undefined)
  if (whole >= 0) return young.slice(0, whole)
  const added = { commit: before.commit, tree: before.tree, untilMs: nowMs }
  let all: EarlierStates = [...young, added]
  for (const { commit, paths } of backs) {
    const at = young.findIndex((one) => one.commit === commit)
    if (at < 0) continue
    if (paths.length > gitLimits.takenBackFilesMax) return young.slice(0, at + 1)
    all = all.map((one, i) => (i > at ? without(one, paths) : one))
  }
  const kept = all.slice(0, -1)
  const last = kept.at(-1)
  const isCounted = last !== undefined && nowMs - last.untilMs < judgeLimits.removalWindowMs
  if (isRoutine && isCounted) return kept
  return all.slice(-gitLimits.earlierStatesMax)
}

function without(state: EarlierState, paths: readonly string[]): EarlierState {
  if (paths.length === 0) return state
  const takenBack = [...new Set([...(state.takenBack ?? []), ...paths])]
  return { ...state, takenBack }
}

/** Whether a change of these files must not go back to it. */
export function isTakenBack({ takenBack = [] }: EarlierState, changed: readonly string[]): boolean {
  const paths = new Set(takenBack)
  return changed.some((path) => paths.has(path))
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

/** Whether a commit has answered anywhere. */
export type Answered = (commit: string) => Promise<boolean>

/**
 * Finds the earlier states that a request can go back to, oldest first: for each file that it
 * changes, the last state in which the file was different. Older states are no repair: a pool grows
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
    if (isTakenBack(state, changed)) continue
    const blobs = await blobsOf(state.tree)
    if (blobs === undefined) continue
    const same = open.filter((path) => blobs.get(path) === now.get(path))
    if (same.length === open.length) continue
    found.unshift(state)
    open = same
  }
  return found
}
