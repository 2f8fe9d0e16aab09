// Finds the commit that a change is compared with: where it left the branch that it is to go to.
import {
  commitNamed,
  mergeBaseOf,
  openGitPlace,
  unrelatedReason,
} from '#gitops/checkout/git-tree.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'

export interface ReviewBase {
  /** As the commands of gslbd take it. */
  readonly ref: string
  /** A sentence for the reader; '': there is nothing to say. */
  readonly note: string
}

/**
 * A branch that has gone on since is no fault of the change: a merge keeps both. Errors: a
 * sentence; also that the two have nothing in common here.
 */
export async function reviewBase(path: string, base: string): Promise<Result<ReviewBase, string>> {
  const place = openGitPlace(path)
  if (!place.ok) return err(`--base needs a checkout of git: ${place.error}`)
  const commit = await commitNamed(place.value, base)
  if (!commit.ok) return err(`the base is not here: ${commit.error}`)
  const head = await commitNamed(place.value, 'HEAD')
  const shared = head.ok ? await mergeBaseOf(place.value, commit.value, head.value) : commit.value
  if (shared === commit.value) return ok({ ref: base, note: '' })
  if (shared !== undefined) {
    const note = `${base} has gone on since: the change is compared with where it left it`
    return ok({ ref: shared, note })
  }
  return err(unrelatedReason(place.value, base, 'HEAD'))
}
