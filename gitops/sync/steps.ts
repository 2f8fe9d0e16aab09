// The steps from a new head to a publication, in order; each ends the run or fills in what later
// ones need.
import { hash } from 'node:crypto'
import { assert } from '#lib/assert.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import type { NameOutline, ParentDs } from '#compiler/lower/name-outline.ts'
import type { SourceFile } from '#compiler/read/source.ts'
import {
  commitsToVerify,
  holdOf,
  claimedByNodes,
  mayOverride,
  short,
  verifyCommits,
} from '#gitops/trust/accept.ts'
import type { AcceptParts, Hold, Signatures } from '#gitops/trust/accept.ts'
import type { CommitGraph } from '#gitops/git/commit-graph.ts'
import type { CommitObject } from '#gitops/git/objects/commit-object.ts'
import type { CompiledBundle, CompileFailure, CompilePort, SourceReader } from './compile-port.ts'
import type { ConfigSource, SourceError } from '#gitops/source/config-source.ts'
import type { ObjectError } from '#gitops/git/objects/driver.ts'
import { blobsIn } from '#gitops/guard/earlier.ts'
import { Repairs } from '#gitops/guard/repair.ts'
import { signersOfRange } from '#gitops/guard/override-signers.ts'
import {
  backReason,
  guardedReason,
  judgeHead,
  overrideCommand,
  removalsOf,
} from '#gitops/guard/guardrail.ts'
import type { GoneBack, GuardedPoint, GuardParts } from '#gitops/guard/guardrail.ts'
import { historySize } from '#gitops/git/history-size.ts'
import type { Draft, Publisher } from './publisher.ts'
import { readSigners } from '#gitops/trust/signers-file.ts'
import type { SignersFile } from '#gitops/trust/signers-file.ts'
import type { AcceptedCommit, GitopsStatus } from '#gitops/status/status.ts'

/** Dependencies of a verdict. */
export interface JudgeParts {
  readonly source: ConfigSource
  readonly compiler: CompilePort
  readonly publisher: Pick<Publisher, 'accepted' | 'earlier'>
  readonly graph: CommitGraph
  readonly reader: SourceReader
  readonly branch: string
  readonly requireSignature: boolean
  readonly allowedSignersPath: string
  /** `gslbd trust reset` as this node needs it. */
  readonly resetCommand: string
  /** DS records seen at parents when a head is judged; left out: none. */
  readonly parentDs?: () => ParentDs
}

/** Dependencies that all runs share. */
export interface StepParts extends JudgeParts {
  readonly publisher: Publisher
}

/** Why a run ends. */
export type Stop = Pick<
  GitopsStatus,
  'sync' | 'code' | 'reason' | 'note' | 'diagnostics' | 'diagnosticsTotal'
>

/** State of a run over one head. */
export interface Run {
  readonly head: string
  readonly commit: CommitObject
  readonly signersFile: SignersFile
  readonly attestations: ReadonlyMap<string, string>
  commits: readonly string[]
  signer: string
  signatures: Signatures
  serial: number
  files: readonly SourceFile[]
  compiled: CompiledBundle | undefined
  draft: Draft | undefined
  /** Changes that the guardrails let pass because they restore an earlier state. */
  backs: readonly GoneBack[]
  /** Outline of the accepted commit; undefined: it has none, or it is not known. */
  before: CompiledBundle['outline'] | undefined
  /** Why the accepted commit cannot be read; undefined: it was, or there is none. */
  unread: Hold | undefined
}

interface Step<Parts = StepParts> {
  readonly name: string
  /** undefined: go on. */
  readonly run: (parts: Parts, run: Run) => Promise<Stop | undefined>
}

export const synced: Stop = Object.freeze({
  sync: 'synced',
  code: '',
  reason: '',
  note: '',
  diagnostics: [],
  diagnosticsTotal: 0,
})

/** The steps that judge a head and change nothing. */
export const judgingSteps: readonly Step<JudgeParts>[] = Object.freeze([
  { name: 'descend', run: descend },
  { name: 'verify', run: verify },
  { name: 'enumerate', run: enumerate },
  { name: 'compile', run: compile },
  { name: 'guard', run: guard },
])

export const steps: readonly Step[] = Object.freeze([
  ...judgingSteps,
  { name: 'sign', run: sign },
  { name: 'publish', run: publish },
])

/** `head`: the head of the branch, where its commit cannot be read. */
interface FetchStop {
  readonly stop: Stop
  readonly head?: string
}

/** The step before the others: finds out which commit is the head, and fetches it. */
export async function fetchHead(
  parts: JudgeParts,
  accepted: string | null,
  isKnown: boolean,
): Promise<Result<Run | { head: string }, FetchStop>> {
  const head = await parts.source.head()
  if (!head.ok) return err({ stop: unreachable(head.error) })
  if (head.value === null) return err({ stop: held(branchMissing(parts, accepted)) })
  // The head's commit is looked up each time, since a mirror may have lost it.
  const isHere = isKnown && head.value === accepted && (await parts.graph.commit(head.value)).ok
  if (isHere) return ok({ head: head.value })
  const fetched = await parts.source.fetch(head.value)
  if (!fetched.ok) return err({ stop: unreachable(fetched.error) })
  const commit = await parts.graph.commit(head.value)
  if (!commit.ok) return err({ stop: stopOf(holdOf(commit.error), parts), head: head.value })
  const attestations = parts.requireSignature
    ? await parts.source.attestations()
    : ok(new Map<string, string>())
  if (!attestations.ok) return err({ stop: unreachable(attestations.error) })
  return ok({
    head: head.value,
    commit: commit.value,
    signersFile: readSigners(parts.allowedSignersPath),
    attestations: attestations.value,
    commits: [],
    signer: '',
    signatures: { byNodes: new Set(), overriding: null },
    serial: 0,
    files: [],
    compiled: undefined,
    draft: undefined,
    backs: [],
    before: undefined,
    unread: undefined,
  })
}

/** Everything that a verdict depends on: while it stays the same, so does the verdict. */
export function basisOf(run: Run): string {
  const attestations = Array.from(run.attestations, ([commit, blob]) => `${commit} ${blob}`).sort()
  return hash('sha256', [run.head, run.signersFile.version, ...attestations].join('\n'))
}

async function descend(parts: JudgeParts, run: Run): Promise<Stop | undefined> {
  const accepted = parts.publisher.accepted?.commit ?? null
  const commits = await commitsToVerify(parts.graph, accepted, run.head, parts.resetCommand)
  if (!commits.ok) return stopOf(commits.error, parts)
  run.commits = commits.value
  return undefined
}

async function verify(parts: JudgeParts, run: Run): Promise<Stop | undefined> {
  if (!parts.requireSignature) {
    const byNodes = await claimedByNodes(parts.graph, run.commits)
    run.signatures = { byNodes, overriding: null }
    return undefined
  }
  const { signers } = run.signersFile
  if (!signers.ok) return held(unreadableSigners(signers.error))
  const accepted = parts.publisher.accepted?.commit ?? null
  const reading = attested(parts, run)
  const verified = await verifyCommits(run.commits, accepted, signers.value, reading.parts)
  // Not the store's fault: what is in it need not be fetched again.
  const failure = reading.failure()
  if (failure !== undefined) return unreachable(failure)
  if (!verified.ok) return stopOf(verified.error, parts)
  run.signer = verified.value.lastSigner
  run.signatures = verified.value
  return undefined
}

/** How signatures are verified, and why an attestation could not be read. */
function attested(
  { graph, source }: JudgeParts,
  { attestations }: Run,
): { readonly parts: AcceptParts; readonly failure: () => SourceError | undefined } {
  let failure: SourceError | undefined
  const attestation: AcceptParts['attestation'] = async (commit) => {
    const blob = attestations.get(commit)
    if (blob === undefined) return ok(null)
    const bytes = await source.readAttestation(commit, blob)
    if (bytes.ok) return bytes
    failure = bytes.error
    return err(bytes.error.reason)
  }
  return { parts: { graph, driver: source.driver, attestation }, failure: () => failure }
}

async function enumerate(parts: JudgeParts, run: Run): Promise<Stop | undefined> {
  const files = await parts.reader.read(run.commit.tree)
  if (!files.ok) return stopOf(holdOf(files.error), parts)
  run.files = files.value
  return undefined
}

async function compile(parts: JudgeParts, run: Run): Promise<Stop | undefined> {
  const outcome = parts.compiler.compile(run.files, run.head)
  if (!outcome.ok) return compileStop(run.head, outcome)
  run.compiled = outcome
  return undefined
}

async function guard(parts: JudgeParts, run: Run): Promise<Stop | undefined> {
  const { graph, publisher, reader, compiler, source } = parts
  const { head } = run
  const accepted = publisher.accepted?.commit
  const outline = run.compiled?.outline?.()
  if (accepted === undefined || outline === undefined) return undefined
  const parentDs = parts.parentDs?.() ?? new Map()
  let isHeadCompiled = true
  const outlineOf = async (oid: string): Promise<NameOutline | undefined> => {
    const commit = await graph.commit(oid)
    const files = commit.ok ? await reader.read(commit.value.tree) : commit
    if (!files.ok) return undefined
    isHeadCompiled = false
    const outcome = compiler.compile(files.value, oid)
    const found = outcome.ok ? outcome.outline?.() : undefined
    return found && { ...found, parentDs }
  }
  const base = await baseOf(parts, run, accepted, outlineOf)
  if (base === undefined) return run.unread && notCompared(parts, run, run.unread)
  const reading = attested(parts, run)
  const verdict = await judgeHead({
    graph,
    accepted: { ...base.point, outline: { ...base.point.outline, parentDs } },
    head: { commit: head, outline: { ...outline, parentDs } },
    commits: base.commits,
    signatures: run.signatures,
    outlineOf,
    // With a remote, another node may have answered from any of the commits.
    isOneChange: source.isLocal,
    repairOf: repairsIn(parts, run, reading.parts, outlineOf).of,
  })
  const failure = reading.failure()
  if (failure !== undefined) return unreachable(failure)
  const { held: found, backs } = verdict
  if (found !== undefined) {
    const isSignerBelow = !mayOverride(run.signatures, found.commit)
    return held({ code: found.breach.code, reason: guardedReason(found, isSignerBelow) })
  }
  run.backs = backs
  if (isHeadCompiled) return undefined
  // Its bundle was in the memory of the compiler, and what is accepted is read from there.
  return (await enumerate(parts, run)) ?? compile(parts, run)
}

/**
 * Returns the base of the head's comparison: the accepted commit, or, where that cannot be read,
 * the last commit that vouches for everything up to it.
 */
async function baseOf(
  { graph }: JudgeParts,
  { head, commits, before, unread, signatures }: Run,
  accepted: string,
  outlineOf: GuardParts['outlineOf'],
): Promise<{ readonly point: GuardedPoint; readonly commits: readonly string[] } | undefined> {
  if (before !== undefined) return { point: { commit: accepted, outline: before() }, commits }
  if (unread === undefined) return undefined
  for (const oid of commits.toReversed()) {
    const commit = await graph.commit(oid)
    if (!commit.ok || commit.value.override === '') continue
    if (!mayOverride(signatures, oid)) continue
    const outline = await outlineOf(oid)
    const later = await graph.newCommits(oid, head)
    if (outline === undefined || !later.ok) continue
    return { point: { commit: oid, outline }, commits: later.value.commits }
  }
  return undefined
}

/** A head that cannot be compared is not accepted: nobody would notice what it removes. */
function notCompared(parts: JudgeParts, { head }: Run, unread: Hold): Stop {
  const stop = stopOf(unread, parts)
  const reason =
    `${stop.reason} Until then commit ${short(head)} is not accepted: it cannot be compared with ` +
    'what answers. If that is lost for good, push a signed commit after it that says that all ' +
    `of it is meant: ${overrideCommand}.`
  return { ...stop, reason }
}

function repairsIn(
  parts: JudgeParts,
  run: Run,
  reading: AcceptParts,
  outlineOf: GuardParts['outlineOf'],
): Repairs {
  const { source, graph, publisher, requireSignature } = parts
  const { signers } = run.signersFile
  const believed = requireSignature ? (signers.ok ? signers.value : []) : null
  return new Repairs({
    graph,
    outlineOf,
    blobsOf: (tree) => blobsIn(source.driver, tree),
    ...(source.isLocal ? { earlier: publisher.earlier } : {}),
    signersOfRange: async (from, to) => {
      const found = await signersOfRange(reading, from, to, believed)
      return found.ok ? found.value : undefined
    },
  })
}

async function sign(parts: StepParts, run: Run): Promise<Stop | undefined> {
  const { publisher } = parts
  const serial = await serialOf(parts, run.head, publisher.accepted, run.commits)
  if (!serial.ok) return stopOf(holdOf(serial.error), parts)
  run.serial = serial.value
  assert(run.compiled !== undefined, 'what is signed has been compiled in this run')
  run.draft = publisher.sign(run.head, run.compiled)
  return undefined
}

async function publish(parts: StepParts, run: Run): Promise<Stop | undefined> {
  assert(run.draft !== undefined, 'what is published has been signed in this run')
  assert(run.draft.commit === run.head, 'the head is published, and no other commit')
  const { signer, serial } = run
  const { tree } = run.commit
  const backs = run.backs.map(({ repair }) => ({
    ...{ commit: repair.state.commit, paths: repair.paths },
  }))
  const succession = { isRoutine: await isRoutine(parts, run), backs }
  parts.publisher.publish(run.draft, { signer, serial, tree, succession })
  return undefined
}

/** See `Succession`. */
async function isRoutine({ graph }: StepParts, { commits, signatures }: Run): Promise<boolean> {
  const believed = { ...signatures, overriding: null }
  return (await removalsOf({ graph, commits, signatures: believed })) === 'api'
}

/** @param commits what `head` has beyond the accepted commit */
export function serialOf(
  { source: { driver }, graph }: Pick<StepParts, 'source' | 'graph'>,
  head: string,
  accepted: AcceptedCommit | null,
  commits: readonly string[],
): Promise<Result<number, ObjectError>> {
  const below = accepted && { commit: accepted.commit, size: accepted.serial }
  return historySize({ driver, graph }, head, below, commits)
}

/**
 * While the head is the accepted commit: what is true of its files, unless the next commit could
 * not be accepted. The one that was goes on serving; its signature was checked when it came.
 */
export function unlessSignersUnreadable(
  { requireSignature, allowedSignersPath }: StepParts,
  stop: Stop,
): Stop {
  if (!requireSignature || stop.sync !== 'synced') return stop
  const { signers } = readSigners(allowedSignersPath)
  if (signers.ok) return stop
  const reason = `${signers.error} The commit accepted before goes on serving.`
  return { ...stop, sync: 'held', ...unreadableSigners(reason) }
}

function unreadableSigners(reason: string): Pick<Stop, 'code' | 'reason'> {
  return { code: 'SignersUnreadable', reason }
}

function branchMissing({ branch, source }: JudgeParts, accepted: string | null): Hold {
  const remedy =
    accepted === null
      ? 'Push a first commit to it, or set gitops.branch to the branch that is meant.'
      : `Push commit ${short(accepted)} to it again, which was accepted last and goes on ` +
        'serving, from a clone or a backup.'
  return { code: 'BranchMissing', reason: `${source.name} has no branch "${branch}". ${remedy}` }
}

/** The end of a run that went well; warnings stay in the status. */
export function syncedWith(
  { diagnostics, total }: Pick<CompiledBundle, 'diagnostics' | 'total'>,
  backs: readonly GoneBack[] = [],
): Stop {
  const note = backs.map(backReason).join(' ')
  return { ...synced, note, diagnostics, diagnosticsTotal: total }
}

export function compileStop(commit: string, failure: CompileFailure): Stop {
  const { diagnostics, total, errors } = failure
  return {
    sync: 'held',
    note: '',
    code: 'CompileFailed',
    reason:
      `Commit ${short(commit)} has ${errors === 1 ? 'an error' : `${errors} errors`} in its ` +
      `configuration. Correct ${errors === 1 ? 'it' : 'them'} in a new commit; the commit ` +
      'accepted before goes on serving.',
    diagnostics,
    diagnosticsTotal: total,
  }
}

/** The end of a run by a hold. What is damaged and can be fetched again is thrown away. */
export function stopOf({ code, reason }: Hold, { source }: Pick<StepParts, 'source'>): Stop {
  if (code !== 'Unreadable') return held({ code, reason })
  source.discard()
  return unreachable({ code, reason: `${reason} ${source.repairAdvice}` })
}

export function held({ code, reason }: Pick<Stop, 'code' | 'reason'>): Stop {
  return { ...synced, sync: 'held', code, reason }
}

export function unreachable({ code, reason }: SourceError): Stop {
  return { ...synced, sync: 'unreachable', code, reason }
}
