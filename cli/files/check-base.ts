// `gslbd check --base`: applies the guardrails to a directory, compared with a commit.
import { createCompiler } from '#compiler/compile.ts'
import type { CompileSuccess } from '#compiler/compile.ts'
import type { HealthCheckPolicy } from '#compiler/values/health-check-policy.ts'
import { withMoves } from '#compiler/lower/name-outline.ts'
import type { MovedBetween, NameOutline } from '#compiler/lower/name-outline.ts'
import type { CommitGraph } from '#gitops/git/commit-graph.ts'
import { candidatesFor, changedPaths } from '#gitops/guard/earlier.ts'
import type { Blobs, EarlierStates } from '#gitops/guard/earlier.ts'
import {
  backReason,
  backWords,
  guardedReason,
  judgeHead,
  overrideCommand,
  stateGoneBackTo,
} from '#gitops/guard/guardrail.ts'
import type { GuardedPoint, GuardParts } from '#gitops/guard/guardrail.ts'
import { breachBetween } from '#judge/guard/judge.ts'
import type { Breach } from '#judge/guard/judge.ts'
import type { Verified } from '#gitops/trust/accept.ts'
import type { AllowedSigner } from '#gitops/trust/allowed-signers.ts'
import { readSigners } from '#gitops/trust/signers-file.ts'
import type { SourceFile } from '#compiler/read/source.ts'
import type { PolicyTests } from '#compiler/tree/policy-tests.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import {
  answeredIn,
  blobsIn,
  blobsOfCommit,
  blobsOfFiles,
  earlierCommits,
} from './earlier-commits.ts'
import {
  commitNamed,
  filesOfCommit,
  openGitPlace,
  relationOf,
  unrelatedReason,
} from '#gitops/checkout/git-tree.ts'
import type { GitPlace } from '#gitops/checkout/git-tree.ts'
import { verifyBetween } from './signatures.ts'

/** How the sentence begins that says that the base is no measure. */
export const notCompared = 'not compared: '

/** Said of a directory with changes that are in no commit. */
export const judgedToo = 'what is not committed is judged, too'
export const notSignedYet =
  'signatures, and who may override, are judged up to HEAD: what is not committed has none yet'

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
  /** What failed them has answered nowhere. */
  readonly policyTests: PolicyTests
  readonly movedBetween: MovedBetween
  /** A file; undefined: anybody who says that a change is meant is believed. */
  readonly allowedSigners: string | undefined
  /** Unix epoch. */
  readonly nowMs: number
}

/** What is in the directory. */
export interface Checked extends Pick<CompileSuccess, 'outline' | 'bundle'> {
  readonly files: readonly SourceFile[]
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
  after: Checked,
  parts: ComparisonParts,
): Promise<Result<BaseComparison, string>> {
  const found = openGitPlace(path)
  if (!found.ok) return err(`--base needs a checkout of git: ${found.error}`)
  const place = found.value
  const commit = await commitNamed(place, base)
  if (!commit.ok) return err(`--base: ${commit.error}`)
  const head = await commitNamed(place, 'HEAD')
  // Which commits lead from one to the other, and what they say is meant, cannot be told.
  if (head.ok && (await relationOf(place, commit.value, head.value)) === 'unrelated') {
    return err(`--base: ${unrelatedReason(place, base, 'HEAD')}`)
  }
  const { checkPolicy, policyTests, movedBetween } = parts
  const compiler = createCompiler({ checkPolicy, policyTests })
  const outlineOf = async (oid: string): Promise<NameOutline | undefined> => {
    const files = await filesOfCommit(place, oid)
    const outcome = files.ok ? compiler.compile(files.value, { commit: '' }) : undefined
    return outcome?.ok === true ? comparable(outcome, movedBetween) : undefined
  }
  const now = comparable(after, movedBetween)
  const before = await outlineOf(commit.value)
  const committed = head.ok ? await outlineOf(head.value) : undefined
  const hasUncommitted = !isSameBundle(committed, now)
  if (before === undefined) {
    const sentence = `${notCompared}${base} has errors itself, or cannot be read`
    return ok({ isHeld: false, sentence, hasUncommitted })
  }
  const ofBase = { name: base, commit: commit.value, outline: before }
  const judge = new BaseJudge({ ...parts, place, base: ofBase, outlineOf })
  const line =
    head.ok && committed !== undefined
      ? await judge.line({ commit: head.value, outline: committed })
      : undefined
  if (line !== undefined && !line.ok) return ok({ ...heldFor(line.error), hasUncommitted })
  const directory = { outline: now, blobs: blobsOfFiles(after.files) }
  const told =
    line === undefined
      ? await judge.directory(directory)
      : await judge.commits(line.value, hasUncommitted ? directory : undefined)
  return ok({ ...told, hasUncommitted })
}

interface Directory {
  readonly outline: NameOutline
  readonly blobs: Blobs
}

interface BaseJudgeParts extends Pick<ComparisonParts, 'allowedSigners' | 'nowMs'> {
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
   * What the guardrails judge; undefined: nothing leads from the base to the head. Errors: the file
   * of signers cannot be read.
   */
  async line(head: GuardedPoint): Promise<Result<GuardParts, string> | undefined> {
    const { place, base, allowedSigners, outlineOf } = this.#parts
    const { graph } = place
    if (head.commit === base.commit) return undefined
    const brought = await graph.newCommits(base.commit, head.commit)
    if (!brought.ok || !brought.value.descends) return undefined
    const signed = await signedBetween(place, base.commit, head.commit, allowedSigners)
    if (!signed.ok) return signed
    return ok({
      ...{ graph, accepted: base, head, commits: brought.value.commits, outlineOf },
      isOfApi: (oid) => signed.value?.byNodes.has(oid) ?? false,
      mayOverride: (oid) => signed.value?.overriding.has(oid) ?? true,
      // As it will be pushed.
      isOneChange: true,
      earlier: (from, to) => this.#earlier(from, to),
    })
  }

  /**
   * @param directory what is not committed yet, judged with the commits, as the push that it will
   *   be; undefined: all is
   */
  async commits(line: GuardParts, directory: Directory | undefined): Promise<Comparison> {
    const { graph, head, commits, mayOverride } = line
    const { base } = this.#parts
    const { held, back } = await judgeHead(
      directory === undefined ? line : this.#lineWith(line, directory),
    )
    if (held !== undefined)
      return held.commit === '' ? heldSo(held.breach) : heldFor(guardedReason(held))
    if (back !== undefined) return back.commit === '' ? backSo(back) : passedFor(backReason(back))
    const meant = breachBetween(base.outline, directory?.outline ?? head.outline)
    if (meant === undefined) return passedFor('')
    const reason = await overrideAmong(graph, commits.filter(mayOverride))
    const sentence = `since ${base.name} this ${meant.words}, as meant: ${reason}`
    return { isHeld: false, sentence: reason === '' ? '' : sentence }
  }

  #lineWith(line: GuardParts, { outline, blobs }: Directory): GuardParts {
    return {
      ...line,
      uncommitted: outline,
      earlier: (from, to) => this.#earlier(from, to === '' ? blobs : to),
    }
  }

  /** No commits lead there that can be judged. */
  async directory({ outline, blobs }: Directory): Promise<Comparison> {
    const from = this.#parts.base
    const breach = breachBetween(from.outline, outline)
    if (breach === undefined) return passedFor('')
    const change = { before: from.outline, after: outline, breach }
    const earlier = (): Promise<EarlierStates> => this.#earlier(from.commit, blobs)
    const to = await stateGoneBackTo(change, earlier, this.#parts.outlineOf)
    return to === undefined ? heldSo(breach) : backSo({ breach, to })
  }

  async #earlier(from: string, to: string | Blobs): Promise<EarlierStates> {
    const { place, nowMs, outlineOf } = this.#parts
    const now = await blobsOfCommit(place, from)
    const next = typeof to === 'string' ? await blobsOfCommit(place, to) : to
    if (now === undefined || next === undefined) return []
    const earlier = await earlierCommits(place, from, nowMs)
    const changed = [...changedPaths(now, next)]
    const answered = answeredIn(place, outlineOf, this.#signers())
    return await candidatesFor(earlier, now, changed, (tree) => blobsIn(place, tree), answered)
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

const nobody: Pick<Verified, 'byNodes' | 'overriding'> = {
  ...{ byNodes: new Set(), overriding: new Set() },
}

/** Believes nobody's commits unless all of them are signed. null: nobody has to sign. */
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

const passedFor = (sentence: string): Comparison => ({
  isHeld: false,
  sentence: sentence === '' ? '' : `guardrail: ${sentence}`,
})

const heldFor = (why: string): Comparison => ({
  isHeld: true,
  sentence: `guardrail: a node would hold it. ${why}`,
})

/** What is not committed does it. */
const backSo = (back: Parameters<typeof backWords>[0]): Comparison =>
  passedFor(`This ${backWords(back)}`)

const heldSo = ({ words }: Breach): Comparison =>
  heldFor(
    `This ${words}. If that is meant, say so in the commit that does it, ` +
      `or in one after it: ${overrideCommand}`,
  )

/** What the newest commit that has the trailer says; '': none has. */
async function overrideAmong(graph: CommitGraph, commits: readonly string[]): Promise<string> {
  for (const oid of commits.toReversed()) {
    const commit = await graph.commit(oid)
    if (commit.ok && commit.value.override !== '') return commit.value.override
  }
  return ''
}
