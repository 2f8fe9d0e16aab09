// Finds out whether a planned change goes back to what answered before, as the guardrails do.
import { loadBundle } from '#bundle/load/load.ts'
import type { Bundle } from '#bundle/format/bundle.ts'
import { createCompiler } from '#compiler/compile.ts'
import type { Compiler } from '#compiler/compile.ts'
import { withMoves } from '#compiler/lower/name-outline.ts'
import type { MovedBetween, NameOutline } from '#compiler/lower/name-outline.ts'
import type { PolicyTests } from '#compiler/tree/policy-tests.ts'
import { candidatesFor, changedPaths } from '#gitops/guard/earlier.ts'
import type { Answered, Blobs, EarlierState, EarlierStates } from '#gitops/guard/earlier.ts'
import { gitLimits } from '#gitops/limits.ts'
import { lenientPolicy } from '#settings/check-policy.ts'
import { answeredIn, blobsIn, earlierCommits } from './earlier-commits.ts'
import { filesOfCommit, openGitPlace } from '#gitops/checkout/git-tree.ts'
import type { GitPlace } from '#gitops/checkout/git-tree.ts'

export interface PlannedChange {
  /** In the checkout that has the commits. */
  readonly directory: string
  readonly base: Side & { readonly bundle: Bundle }
  readonly head: Side
  readonly nowMs: number
  /** What failed them has answered nowhere. */
  readonly policyTests: PolicyTests
  /** Counts whom earlier commits moved: a node may have held one for that. */
  readonly movedBetween: MovedBetween
  /** Whether what moves too many clients goes back to there. */
  readonly isWithin: (earlier: Bundle) => boolean
}

interface Side {
  /** Blob ids of its files; null: they are not known. */
  readonly blobs: Blobs | null
}

/** undefined: it does not, or the base is no commit, before which nothing is known. */
export async function goneBackTo(change: PlannedChange): Promise<EarlierState | undefined> {
  const { directory, base, head, nowMs, policyTests, movedBetween, isWithin } = change
  const { commit } = base.bundle.manifest
  const found = openGitPlace(directory)
  if (commit === '' || !found.ok) return undefined
  const place = found.value
  const earlier = await earlierCommits(place, commit, nowMs)
  const changed = base.blobs && head.blobs && [...changedPaths(base.blobs, head.blobs)]
  const compiler = createCompiler({ checkPolicy: lenientPolicy, policyTests, listsRemarks: false })
  const answered = answeredIn(place, outlinesBy(compiler, place, movedBetween), null)
  const blobsOf = (tree: string): Promise<Blobs | undefined> => blobsIn(place, tree)
  const states =
    base.blobs === null || changed === null
      ? await lastAnswered(earlier, answered)
      : await candidatesFor(earlier, base.blobs, changed, blobsOf, answered)
  for (const state of states.toReversed()) {
    const files = await filesOfCommit(place, state.commit)
    const result = files.ok ? compiler.compile(files.value, { commit: state.commit }) : undefined
    const bundle = result?.ok === true ? loadBundle(result.bundle.bytes) : undefined
    if (bundle?.ok === true && isWithin(bundle.value)) return state
  }
  return undefined
}

/** As many as are looked at for one change. */
async function lastAnswered(earlier: EarlierStates, answered: Answered): Promise<EarlierStates> {
  const found: EarlierState[] = []
  for (const state of earlier.toReversed()) {
    if (found.length === gitLimits.earlierLooksMax) break
    if (await answered(state.commit)) found.unshift(state)
  }
  return found
}

/** The compiler goes on in the memory of its own. */
const outlinesBy =
  (compiler: Compiler, place: GitPlace, movedBetween: MovedBetween) =>
  async (commit: string): Promise<NameOutline | undefined> => {
    const files = await filesOfCommit(place, commit)
    const result = files.ok ? compiler.compile(files.value, { commit }) : undefined
    if (result?.ok !== true) return undefined
    return withMoves(result.outline(), Uint8Array.from(result.bundle.bytes), movedBetween)
  }
