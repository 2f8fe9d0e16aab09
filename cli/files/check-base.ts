// `gslbd check --base`: applies the guardrails to a directory, compared with a commit.
import { createCompiler } from '#compiler/compile.ts'
import type { CompilerParts, CompileSuccess } from '#compiler/compile.ts'
import type { MovedBetween, NameOutline } from '#compiler/lower/name-outline.ts'
import type { CommitGraph } from '#gitops/git/commit-graph.ts'
import {
  backReason,
  guardedReason,
  judgeHead,
  overrideCommand,
  repairAdvice,
} from '#gitops/guard/guardrail.ts'
import type { GuardedPoint, GuardParts } from '#gitops/guard/guardrail.ts'
import { unknownChains } from '#judge/guard/chain-of-trust.ts'
import { breachBetween } from '#judge/guard/judge.ts'
import type { Breach } from '#judge/guard/judge.ts'
import { mayOverride } from '#gitops/trust/accept.ts'
import type { Signatures } from '#gitops/trust/accept.ts'
import type { AllowedSigner } from '#gitops/trust/allowed-signers.ts'
import { readSigners } from '#gitops/trust/signers-file.ts'
import type { PolicyTests } from '#compiler/tree/policy-tests.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { outlineIn, outlinesOf, repairsIn } from '#gitops/checkout/earlier-commits.ts'
import {
  commitNamed,
  openGitPlace,
  relationOf,
  unrelatedReason,
} from '#gitops/checkout/git-tree.ts'
import type { GitPlace } from '#gitops/checkout/git-tree.ts'
import { verifyBetween } from '#gitops/checkout/signatures.ts'
import { searchPath } from './search-path.ts'

/** First words of the note that the base cannot be compared. */
export const notCompared = 'not compared: '

/** Note on a directory with uncommitted changes. */
export const judgedToo = 'what is not committed is judged, too'
export const notSignedYet =
  'signatures, and who may override, are judged up to HEAD: what is not committed has none yet'

export interface Comparison {
  readonly isHeld: boolean
  /** '': there is nothing to report. */
  readonly sentence: string
}

export interface BaseComparison extends Comparison {
  /** True: the directory differs from the commit that is checked out. */
  readonly hasUncommitted: boolean
  /** Sentences on what a node judges besides, by what it knows of parents. */
  readonly unknown: readonly string[]
}

export interface ComparisonParts extends Pick<CompilerParts, 'checkPolicy' | 'tell'> {
  /** A commit that fails them has answered nowhere. */
  readonly policyTests: PolicyTests
  readonly movedBetween: MovedBetween
  /** A file; undefined: every override is believed. */
  readonly allowedSigners: string | undefined
}

/** The compiled directory. */
export type Checked = Pick<CompileSuccess, 'outline' | 'bundle'>

/** @param path of the directory, in a checkout. Errors: a clause. */
export async function compareWithBase(
  path: string,
  base: string,
  after: Checked,
  parts: ComparisonParts,
): Promise<Result<BaseComparison, string>> {
  const found = openGitPlace(path, searchPath())
  if (!found.ok) return err(`--base needs a checkout of git: ${found.error}`)
  const place = found.value
  const commit = await commitNamed(place, base)
  if (!commit.ok) return err(`--base: ${commit.error}`)
  const head = await commitNamed(place, 'HEAD')
  // The commits between the two, and their overrides, are unknown.
  if (head.ok && (await relationOf(place, commit.value, head.value)) === 'unrelated') {
    return err(`--base: ${unrelatedReason(place, base, 'HEAD')}`)
  }
  const { movedBetween, ...how } = parts
  const outlineOf = outlinesOf(place, createCompiler(how), movedBetween)
  const now = outlineIn(after, movedBetween)
  const before = await outlineOf(commit.value)
  const committed = head.ok ? await outlineOf(head.value) : undefined
  const hasUncommitted = !isSameBundle(committed, now)
  if (before === undefined) {
    const sentence = `${notCompared}${base} has errors itself, or cannot be read`
    return ok({ isHeld: false, sentence, hasUncommitted, unknown: [] })
  }
  const more = { hasUncommitted, unknown: unknownChains(before, now) }
  const ofBase = { name: base, commit: commit.value, outline: before }
  const judge = new BaseJudge({ ...parts, place, base: ofBase, outlineOf })
  const line =
    head.ok && committed !== undefined
      ? await judge.line({ commit: head.value, outline: committed })
      : undefined
  if (line !== undefined && !line.ok) return ok({ ...heldFor(line.error), ...more })
  const verdict =
    line === undefined
      ? judge.directory(now)
      : await judge.commits(line.value, hasUncommitted ? now : undefined)
  return ok({ ...verdict, ...more })
}

interface BaseJudgeParts extends Pick<ComparisonParts, 'allowedSigners'> {
  readonly place: GitPlace
  readonly base: GuardedPoint & { readonly name: string }
  readonly outlineOf: (commit: string) => Promise<NameOutline | undefined>
}

class BaseJudge {
  readonly #parts: BaseJudgeParts

  constructor(parts: BaseJudgeParts) {
    this.#parts = parts
  }

  /**
   * Returns the facts that the guardrails judge; undefined: the head does not descend from the
   * base. Errors: the file of signers cannot be read.
   */
  async line(head: GuardedPoint): Promise<Result<GuardParts, string> | undefined> {
    const { place, base, allowedSigners, outlineOf } = this.#parts
    const { graph } = place
    if (head.commit === base.commit) return undefined
    const added = await graph.newCommits(base.commit, head.commit)
    if (!added.ok || !added.value.descends) return undefined
    const signed = await signedBetween(place, base.commit, head.commit, allowedSigners)
    if (!signed.ok) return signed
    return ok({
      ...{ graph, accepted: base, head, commits: added.value.commits, outlineOf },
      signatures: signed.value,
      // The commits are judged as the push that they will be.
      isOneChange: true,
      repairOf: repairsIn(place, outlineOf, this.#signers()).of,
    })
  }

  /**
   * @param directory uncommitted changes, judged together with the commits; undefined: there are
   * none
   */
  async commits(line: GuardParts, directory: NameOutline | undefined): Promise<Comparison> {
    const { graph, head, commits, signatures } = line
    const { base } = this.#parts
    const { held, backs } = await judgeHead(
      directory === undefined ? line : { ...line, uncommitted: directory },
    )
    if (held !== undefined)
      return held.commit === '' ? heldSo(held.breach) : heldFor(guardedReason(held))
    if (backs.length > 0) return passedFor(backs.map(backReason).join(' '))
    const meant = breachBetween(base.outline, directory ?? head.outline)
    if (meant === undefined) return passedFor('')
    const reason = await overrideAmong(
      graph,
      commits.filter((oid) => mayOverride(signatures, oid)),
    )
    const sentence = `since ${base.name} this ${meant.words}, as meant: ${reason}`
    return { isHeld: false, sentence: reason === '' ? '' : sentence }
  }

  /** Without commits that could be judged, the directory alone is. */
  directory(outline: NameOutline): Comparison {
    const breach = breachBetween(this.#parts.base.outline, outline)
    return breach === undefined ? passedFor('') : heldSo(breach)
  }

  #signers(): readonly AllowedSigner[] | null {
    const { allowedSigners } = this.#parts
    if (allowedSigners === undefined) return null
    const { signers } = readSigners(allowedSigners)
    return signers.ok ? signers.value : []
  }
}

function isSameBundle(committed: NameOutline | undefined, now: NameOutline): boolean {
  const [was, is] = [committed?.moves?.bundle, now.moves?.bundle]
  return was !== undefined && is !== undefined && Buffer.compare(was, is) === 0
}

/** Believes no override unless all commits are signed, where signatures are required. */
async function signedBetween(
  place: GitPlace,
  base: string,
  head: string,
  path: string | undefined,
): Promise<Result<Signatures, string>> {
  if (path === undefined) return ok({ byNodes: new Set(), overriding: null })
  const { signers } = readSigners(path)
  if (!signers.ok) return signers
  const verified = await verifyBetween(place, base, head, signers.value)
  return ok(verified.ok ? verified.value : { byNodes: new Set(), overriding: new Set() })
}

const passedFor = (sentence: string): Comparison => ({
  isHeld: false,
  sentence: sentence === '' ? '' : `guardrail: ${sentence}`,
})

const heldFor = (why: string): Comparison => ({
  isHeld: true,
  sentence: `guardrail: a node would hold it. ${why}`,
})

/** The uncommitted changes exceed the limit. */
const heldSo = (breach: Breach): Comparison =>
  heldFor(
    `This ${breach.words}. ${repairAdvice(breach)}If that is meant, say so in the commit that ` +
      `does it, or in one after it: ${overrideCommand}`,
  )

/** The newest override among the commits; '': there is none. */
async function overrideAmong(graph: CommitGraph, commits: readonly string[]): Promise<string> {
  for (const oid of commits.toReversed()) {
    const commit = await graph.commit(oid)
    if (commit.ok && commit.value.override !== '') return commit.value.override
  }
  return ''
}
