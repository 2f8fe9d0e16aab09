// Remembers which commits answered lately, so that a change back to one of them counts as a repair.
import { isRead } from '#compiler/read/layout.ts'
import type { GitDriver } from '#gitops/git/objects/driver.ts'
import { gitLimits } from '#gitops/limits.ts'
import { judgeLimits } from '#judge/limits.ts'

/** A commit that answered, until another one took its place. */
export interface EarlierState {
  readonly commit: string
  readonly tree: string
  /** When another commit took its place, since the Unix epoch. */
  readonly untilMs: number
  /** Files that a later change took back to what they were then; left out: none. */
  readonly takenBack?: readonly string[]
}

/** A commit and its replacement. */
export interface Succession {
  readonly before: Pick<EarlierState, 'commit' | 'tree'>
  readonly tree: string
  /**
   * True when it holds only API requests without an override. All such requests within ten minutes
   * count as one change.
   */
  readonly isRoutine: boolean
  /** The commits that it goes back to, as the guardrails found; left out: none. */
  readonly backs?: readonly Back[]
}

/** A change, with the commits that it names as what it goes back to; see `CommitObject`. */
export interface NamedChange {
  readonly from: string
  readonly to: string
  readonly names: readonly string[]
  /** Whether what it does beyond the limits is, by facts, as that commit had it. */
  readonly isBack: (commit: string) => Promise<boolean>
}

/** The state that a change goes back to, and the files in which it does. */
export interface Repair {
  readonly state: EarlierState
  /** Paths of the files that the change alters. */
  readonly paths: readonly string[]
}

/** A commit that a change goes back to. */
interface Back {
  readonly commit: string
  /** Paths of the files that the change alters. */
  readonly paths: readonly string[]
}

/** Oldest first. */
export type EarlierStates = readonly EarlierState[]

/**
 * Lists the earlier states after a succession. States that came after the commit that a change goes
 * back to are no way back for the files of that change: the repair of a bad change needs nobody to
 * vouch for it, the same bad change once more does, and bad changes of other files can still be
 * taken back, in any order.
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

/** Whether a change of these files may not go back to this state. */
export function isTakenBack({ takenBack = [] }: EarlierState, changed: readonly string[]): boolean {
  const paths = new Set(takenBack)
  return changed.some((path) => paths.has(path))
}

/** Drops states that are too old. A clock that was set back makes no state older. */
export function stillEarlier(earlier: EarlierStates, nowMs: number): EarlierStates {
  return earlier.filter(({ untilMs }) => nowMs - untilMs < gitLimits.earlierStateMs)
}

/** Object ids of the files that the compiler reads, by path. */
export type Blobs = ReadonlyMap<string, string>

export function* changedPaths(before: Blobs, after: Blobs): Generator<string> {
  for (const [path, oid] of before) if (after.get(path) !== oid) yield path
  for (const path of after.keys()) if (!before.has(path)) yield path
}

/** @returns undefined: the tree cannot be read */
export type TreeBlobs = (tree: string) => Promise<Blobs | undefined>

/** @param place folder of the configuration in the tree, such as `dns/`; '': the whole tree */
export async function blobsIn(
  driver: Pick<GitDriver, 'readTree'>,
  tree: string,
  place = '',
): Promise<Blobs | undefined> {
  const files = await driver.readTree(tree)
  if (!files.ok) return undefined
  const own = files.value.filter(({ path, kind }) => kind === 'file' && path.startsWith(place))
  const named = own.map(({ path, oid }) => [path.slice(place.length), oid] as const)
  return new Map(named.filter(([path]) => isRead(path)))
}

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
