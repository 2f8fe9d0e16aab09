// `gslbd check --base`: applies the guardrails to a directory, compared with a commit.
import { createCompiler } from '#compiler/compile.ts'
import type { CompileSuccess } from '#compiler/compile.ts'
import type { HealthCheckPolicy } from '#compiler/values/health-check-policy.ts'
import { withMoves } from '#compiler/plan/name-outline.ts'
import type { MovedBetween, NameOutline } from '#compiler/plan/name-outline.ts'
import type { CommitGraph } from '#gitops/git/commit-graph.ts'
import { findBreach, guardedReason, overrideCommand } from '#gitops/guard/guardrail.ts'
import { breachBetween } from '#gitops/guard/breach.ts'
import type { Verified } from '#gitops/trust/accept.ts'
import { readSigners } from '#gitops/trust/signers-file.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { commitNamed, filesOfCommit, openGitPlace } from './git-tree.ts'
import type { GitPlace } from './git-tree.ts'
import { verifyBetween } from './signatures.ts'

/** How the sentence begins that says that the base is no measure. */
export const notCompared = 'not compared: '

export interface Comparison {
  readonly isHeld: boolean
  /** '': there is nothing to say. */
  readonly sentence: string
}

export interface BaseComparison extends Comparison {
  /** The directory has another configuration than the commit that is checked out. */
  readonly hasUncommitted: boolean
}

export interface ComparisonParts {
  readonly checkPolicy: HealthCheckPolicy
  readonly movedBetween: MovedBetween
  /** A file; undefined: whoever says that a change is meant is believed. */
  readonly allowedSigners: string | undefined
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
  { checkPolicy, movedBetween, allowedSigners }: ComparisonParts,
): Promise<Result<BaseComparison, string>> {
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
  const hasErrors = `${notCompared}${base} has errors itself, or cannot be read`
  const head = await commitNamed(found.value, 'HEAD')
  const committed = head.ok ? await outlineOf(head.value) : undefined
  const hasUncommitted = !isSameBundle(committed, now)
  const told = (one: Comparison): Result<BaseComparison, never> => ok({ ...one, hasUncommitted })
  if (before === undefined) return told({ isHeld: false, sentence: hasErrors })
  if (head.ok && committed !== undefined && head.value !== commit.value) {
    const brought = await graph.newCommits(commit.value, head.value)
    if (brought.ok && brought.value.descends) {
      const signed = await signedBetween(found.value, commit.value, head.value, allowedSigners)
      if (!signed.ok) return told(heldFor(signed.error))
      const mayOverride = (oid: string): boolean => signed.value?.overriding.has(oid) ?? true
      const breach = await findBreach({
        graph,
        accepted: { commit: commit.value, outline: before },
        head: { commit: head.value, outline: committed },
        commits: brought.value.commits,
        isOfApi: (oid) => signed.value?.byNodes.has(oid) ?? false,
        mayOverride,
        outlineOf,
      })
      if (breach !== undefined) return told(heldFor(guardedReason(breach)))
      const left = uncommitted(committed, now)
      const meant = breachBetween(before, committed)
      const overriding = brought.value.commits.filter(mayOverride)
      const reason = meant === undefined ? '' : await overrideAmong(graph, overriding)
      if (left.isHeld || meant === undefined || reason === '') return told(left)
      const sentence = `since ${base} this ${meant.words}, as meant: ${reason}`
      return told({ isHeld: false, sentence })
    }
  }
  return told(uncommitted(before, now))
}

function isSameBundle(committed: NameOutline | undefined, now: NameOutline): boolean {
  const [was, is] = [committed?.moves?.bundle, now.moves?.bundle]
  return was !== undefined && is !== undefined && Buffer.compare(was, is) === 0
}

const nobody: Pick<Verified, 'byNodes' | 'overriding'> = {
  ...{ byNodes: new Set(), overriding: new Set() },
}

/** Of commits that are not all signed nobody is believed. null: nobody has to sign. */
async function signedBetween(
  place: GitPlace,
  base: string,
  head: string,
  path: string | undefined,
): Promise<Result<typeof nobody | null, string>> {
  if (path === undefined) return ok(null)
  const { signers } = readSigners(path)
  if (!signers.ok) return signers
  const verified = await verifyBetween(place, base, head, signers.value)
  return ok(verified.ok ? verified.value : nobody)
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
