// `gslbd check --base`: applies the guardrails to a directory, compared with a commit.
import { createCompiler } from '#compiler/compile.ts'
import type { CompileSuccess } from '#compiler/compile.ts'
import type { HealthCheckPolicy } from '#compiler/values/health-check-policy.ts'
import { withMoves } from '#compiler/plan/name-outline.ts'
import type { MovedBetween, NameOutline } from '#compiler/plan/name-outline.ts'
import type { CommitGraph } from '#gitops/git/commit-graph.ts'
import { findBreach, guardedReason, overrideCommand } from '#gitops/guard/guardrail.ts'
import { breachBetween } from '#gitops/guard/breach.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { commitNamed, filesOfCommit, openGitPlace } from './git-tree.ts'

export interface Comparison {
  readonly isHeld: boolean
  /** '': there is nothing to say. */
  readonly sentence: string
}

export interface ComparisonParts {
  readonly checkPolicy: HealthCheckPolicy
  readonly movedBetween: MovedBetween
}

/** A copy: the compiler goes on in the memory of its own. */
function comparable(
  { outline, bundle }: Pick<CompileSuccess, 'outline' | 'bundle'>,
  movedBetween: MovedBetween,
): NameOutline {
  return withMoves(outline(), Uint8Array.from(bundle.bytes), movedBetween)
}

/** @param path of the directory, in a checkout. Errors: a clause. */
export async function compareWithBase(
  path: string,
  base: string,
  after: Pick<CompileSuccess, 'outline' | 'bundle'>,
  { checkPolicy, movedBetween }: ComparisonParts,
): Promise<Result<Comparison, string>> {
  const found = openGitPlace(path)
  if (!found.ok) return err(`--base needs a checkout of git: ${found.error}`)
  const { graph } = found.value
  const commit = await commitNamed(found.value, base)
  if (!commit.ok) return err(`--base: ${commit.error}`)
  const compiler = createCompiler({ checkPolicy })
  const outlineOf = async (oid: string): Promise<NameOutline | undefined> => {
    const files = await filesOfCommit(found.value, oid)
    const outcome = files.ok ? compiler.compile(files.value, { commit: '' }) : undefined
    return outcome?.ok === true ? comparable(outcome, movedBetween) : undefined
  }
  const now = comparable(after, movedBetween)
  const before = await outlineOf(commit.value)
  const hasErrors = `not compared: ${base} has errors itself, or cannot be read`
  if (before === undefined) return ok({ isHeld: false, sentence: hasErrors })
  const head = await commitNamed(found.value, 'HEAD')
  const committed = head.ok ? await outlineOf(head.value) : undefined
  if (head.ok && committed !== undefined && head.value !== commit.value) {
    const brought = await graph.newCommits(commit.value, head.value)
    if (brought.ok && brought.value.descends) {
      const found = await findBreach({
        graph,
        accepted: { commit: commit.value, outline: before },
        head: { commit: head.value, outline: committed },
        commits: brought.value.commits,
        // Who signed is known to the node only; here nobody is excused.
        isOfApi: () => false,
        mayOverride: () => true,
        outlineOf,
      })
      if (found !== undefined) return ok(heldFor(guardedReason(found)))
      const left = uncommitted(committed, now)
      const meant = breachBetween(before, committed)
      const reason = meant === undefined ? '' : await overrideAmong(graph, brought.value.commits)
      if (left.isHeld || meant === undefined || reason === '') return ok(left)
      const sentence = `since ${base} this ${meant.words}, as meant: ${reason}`
      return ok({ isHeld: false, sentence })
    }
  }
  return ok(uncommitted(before, now))
}

/** What is not committed yet is judged as the commit that it will be. */
function uncommitted(before: NameOutline, after: NameOutline): Comparison {
  const breach = breachBetween(before, after)
  if (breach === undefined) return { isHeld: false, sentence: '' }
  return heldFor(
    `This ${breach.words}. If that is meant, say so in the commit that does it, ` +
      `or in one after it: ${overrideCommand}`,
  )
}

const heldFor = (why: string): Comparison => ({
  isHeld: true,
  sentence: `guardrail: a node would hold it. ${why}`,
})

/** What the newest commit that has the trailer says; '': none has. */
async function overrideAmong(graph: CommitGraph, commits: readonly string[]): Promise<string> {
  for (const oid of commits.toReversed()) {
    const commit = await graph.commit(oid)
    if (commit.ok && commit.value.override !== '') return commit.value.override
  }
  return ''
}
