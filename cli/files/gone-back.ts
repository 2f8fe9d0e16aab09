// Finds out whether a planned change goes back to what answered before, as the guardrails do.
import { createCompiler } from '#compiler/compile.ts'
import type { MovedBetween } from '#compiler/lower/name-outline.ts'
import type { PolicyTests } from '#compiler/tree/policy-tests.ts'
import { blobsIn, changedPaths } from '#gitops/guard/earlier.ts'
import type { Blobs, EarlierState } from '#gitops/guard/earlier.ts'
import { judgeHead } from '#gitops/guard/guardrail.ts'
import { lenientPolicy } from '#settings/check-policy.ts'
import { outlinesOf, repairsIn } from '#gitops/checkout/earlier-commits.ts'
import { commitNamed, openGitPlace } from '#gitops/checkout/git-tree.ts'
import { searchPath } from './search-path.ts'

interface PlannedChange {
  /** A checkout with the commits. */
  readonly directory: string
  /** Commits; head '': the one that is checked out. */
  readonly base: string
  readonly head: string
  /** Blob ids of the head's files; null: unknown. */
  readonly blobs: Blobs | null
  /** A commit that fails them has answered nowhere. */
  readonly policyTests: PolicyTests
  /** Compares moved clients of earlier commits, which a node may have held for that. */
  readonly movedBetween: MovedBetween
}

/** @returns undefined: it does not go back, or the head does not descend from the base */
export async function goneBackTo(change: PlannedChange): Promise<EarlierState | undefined> {
  const { directory, base, head, blobs, policyTests, movedBetween } = change
  const found = openGitPlace(directory, searchPath())
  if (base === '' || blobs === null || !found.ok) return undefined
  const place = found.value
  const { graph } = place
  const oid = await commitNamed(place, head || 'HEAD')
  const to = oid.ok ? await graph.commit(oid.value) : oid
  if (!oid.ok || !to.ok) return undefined
  const committed = await blobsIn(place.driver, to.value.tree, place.place)
  // Uncommitted changes name no commit to go back to.
  if (committed === undefined || !changedPaths(committed, blobs).next().done) return undefined
  const added = await graph.newCommits(base, oid.value)
  if (!added.ok || !added.value.descends) return undefined
  const compiler = createCompiler({ checkPolicy: lenientPolicy, policyTests, listsRemarks: false })
  const outlineOf = outlinesOf(place, compiler, movedBetween)
  const [before, after] = [await outlineOf(base), await outlineOf(oid.value)]
  if (before === undefined || after === undefined) return undefined
  const { backs } = await judgeHead({
    ...{ graph, commits: added.value.commits, outlineOf, isOneChange: true },
    accepted: { commit: base, outline: before },
    head: { commit: oid.value, outline: after },
    signatures: { byNodes: new Set(), overriding: new Set() },
    repairOf: repairsIn(place, outlineOf, null).of,
  })
  return backs.at(-1)?.repair.state
}
