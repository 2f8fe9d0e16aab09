// Reconciles with the branch once: runs the steps, remembers a held head, reports what changed.
import type { SourceFile } from '#compiler/read/source.ts'
import { assert } from '#lib/assert.ts'
import type { Clock } from '#lib/clock.ts'
import { holdOf, short } from '#gitops/trust/accept.ts'
import type { Hold } from '#gitops/trust/accept.ts'
import type { CommitTrials } from './commit-trials.ts'
import { CommitGraph } from '#gitops/git/commit-graph.ts'
import type { CommitObject } from '#gitops/git/objects/commit-object.ts'
import type { Err, Result } from '#lib/result.ts'
import type { Push, SourceError } from '#gitops/source/config-source.ts'
import { diskError } from '#gitops/source/disk-error.ts'
import { judgePush } from './push-judge.ts'
import type { PushedHead } from './push-judge.ts'
import type { KeptCommit } from './kept-commit.ts'
import { objectsOf } from './kept-file.ts'
import { SourceReader } from './compile-port.ts'
import type { CompiledBundle, ReadAt } from './compile-port.ts'
import type { ObjectError } from '#gitops/git/objects/driver.ts'
import { removalsOf } from '#gitops/guard/guardrail.ts'
import type { Removals } from '#gitops/guard/guardrail.ts'
import {
  basisOf,
  compileStop,
  fetchHead,
  serialOf,
  unlessSignersUnreadable,
  stopOf,
  steps,
  synced,
  syncedWith,
  unreachable,
} from './steps.ts'
import type { Run, StepParts, Stop } from './steps.ts'
import { gitLimits } from '#gitops/limits.ts'
import { unknownStatus } from '#gitops/status/status.ts'
import type { AcceptedCommit, Condition, GitopsStatus } from '#gitops/status/status.ts'

interface ReconcilerParts extends Omit<StepParts, 'graph' | 'reader'> {
  readonly clock: Clock
  readonly trials?: CommitTrials
  /** `change`: lines for the log, once for each change; '': nothing has changed. */
  readonly report: (status: GitopsStatus, change: string) => void
  /** Called once for each accepted commit, right after it was compiled and handed over. */
  readonly onAccepted?: (accepted: AcceptedTree) => void
  /** Left out: each process reads the accepted commit anew. */
  readonly kept?: Pick<KeptCommit, 'find' | 'take' | 'readings'>
  /** Whether what was accepted is still in the repository; asked while it is the head. */
  readonly inspect?: () => Result<void, SourceError>
}

export interface AcceptedTree {
  readonly commit: string
  readonly tree: string
  readonly files: readonly SourceFile[]
  /** Files of this commit, as it was compiled: sorted by path. */
  readonly read: readonly ReadAt[]
  readonly removals: Removals
}

export class Reconciler {
  readonly #parts: StepParts & ReconcilerParts
  #status: GitopsStatus = unknownStatus
  #conditions: Condition[] = []
  #held: { basis: string; stop: Stop } | undefined
  /** Status of the accepted commit while it is the head; set once this process has compiled it. */
  #restored: Stop | undefined
  /** Whether the accepted commit is as a previous process left it, and was not read since. */
  #isKept = false
  /** False once what a previous process left was found wrong: then Git alone is believed. */
  #mayResume = true
  /** Names of the accepted commit; undefined: it is none, or it has errors now. */
  #outline: CompiledBundle['outline'] | undefined
  /** Why the accepted commit could not be read at the last try. */
  #unread: ObjectError | undefined
  /** A push of this node that the disk refused; the status shows it until the disk takes it. */
  #undone: Push | undefined

  constructor(parts: ReconcilerParts) {
    const { source } = parts
    this.#parts = {
      ...parts,
      graph: new CommitGraph({ readCommit: (oid) => source.driver.readCommit(oid) }),
      reader: new SourceReader(() => source.driver, parts.compiler),
    }
  }

  get status(): GitopsStatus {
    return this.#status
  }

  /** Not to be called again before it has ended. Never throws: what fails is in the status. */
  async check(): Promise<void> {
    const lookedFromMs = Math.floor(this.#parts.clock.nowMs())
    this.#conditions = []
    let stop: Stop
    try {
      // Before asking the remote: without a network, the accepted commit still serves.
      await this.#restore()
      this.#parts.publisher.save()
      stop = await this.#look()
      // A branch without commits waits for what was refused, too.
      const isWell = stop.sync === 'synced' || stop.code === 'BranchMissing'
      if (isWell) stop = (await this.#checkPush()) ?? stop
    } catch (error) {
      stop = unreachable(failureOf(error))
    }
    this.#parts.publisher.renewWhenDue()
    this.#conclude(stop, lookedFromMs)
  }

  /**
   * Shows in the status that the disk refuses, until it takes what it has refused, or another
   * commit. Not to be called during `check`.
   *
   * @param push what it has refused; left out: as before
   */
  refuse(error: SourceError, push: Push | undefined = this.#undone): void {
    this.#undone = push
    this.#conditions = []
    this.#conclude(unreachable(error))
  }

  /**
   * Notes that a write failed by a mistake of ours. Not to be called during `check`.
   *
   * @param line for the log
   */
  noteFault(line: string): void {
    const faultAtMs = Math.max(1, Math.floor(this.#parts.clock.nowMs()))
    this.#status = { ...this.#status, faultAtMs }
    this.#parts.report(this.#status, line)
  }

  /**
   * Reads and compiles the accepted commit if that was put off until something builds on it. Not to
   * be called during `check`.
   */
  async load(): Promise<void> {
    // Where it could not be read before, it is tried again: guardrails look at it.
    if (!this.#isKept) return await this.#restore()
    const { kept } = this.#parts
    this.forget()
    if (kept !== undefined) this.#parts.reader.learn(kept.readings())
    await this.#restore()
  }

  /**
   * Drops the files of the accepted commit, which is the head, once they are on the disk: `load`
   * reads them again. The caller drops those of the compiler and of writes. Not to be called during
   * `check`.
   */
  unload(): void {
    const { commit } = this.#parts.publisher.accepted ?? {}
    assert(this.restored?.sync === 'synced', 'what is put away has been read')
    assert(this.#status.head?.commit === commit, 'what is put away is the head')
    this.#isKept = true
    this.#outline = undefined
    this.#parts.reader.forget()
  }

  /** Status of the accepted commit while it is the head; undefined: it was not read. */
  get restored(): Stop | undefined {
    return this.#isKept ? undefined : this.#restored
  }

  /** Makes the next look read the accepted commit anew. Not to be called during `check`. */
  forget(): void {
    this.#isKept = false
    this.#mayResume = false
    this.#restored = undefined
    this.#held = undefined
    this.#outline = undefined
  }

  /**
   * Judges a head that the repository of this node does not have yet, without changing anything.
   * Not to be called during `check`. Throws the errors that `check` would catch.
   */
  async judge(push: PushedHead): Promise<Stop> {
    const { source, publisher, reader } = this.#parts
    await this.load()
    const known = { reader, before: this.#outline, unread: this.#unreadHold() }
    const { gitdir } = source.driver
    const { accepted, earlier } = publisher
    const parts = { ...this.#parts, ...push, gitdir, accepted, earlier, known }
    return (await this.#tried(push.head, () => judgePush(parts))) ?? synced
  }

  async #checkPush(): Promise<Stop | undefined> {
    if (this.#undone === undefined) return undefined
    const written = await this.#parts.source.checkPush(this.#undone)
    if (!written.ok) {
      const { code, reason } = this.#status
      // The same refusal in other words, as each try has other names of files: logged once.
      return unreachable(written.error.code === code ? { code, reason } : written.error)
    }
    this.#undone = undefined
    return undefined
  }

  /** Takes over a commit that this node made, pushed and published. Not during `check`. */
  adopt(head: string, commit: CommitObject, compiled: CompiledBundle): void {
    const accepted = this.#parts.publisher.accepted?.commit
    assert(accepted === head, 'a commit of this node is published before it is the head')
    this.#conditions = []
    this.#held = undefined
    this.#undone = undefined
    this.#restored = syncedWith(compiled)
    this.#outline = compiled.outline
    this.#status = { ...this.#status, head: headOf(head, commit) }
    this.#conclude(this.#restored)
  }

  async #look(): Promise<Stop> {
    const { publisher } = this.#parts
    const accepted = publisher.accepted?.commit ?? null
    // A head that is accepted and shown needs no second look.
    const isKnown = this.#restored !== undefined && this.#status.head?.commit === accepted
    const fetched = await this.#timed('fetch', async () => {
      const result = await fetchHead(this.#parts, accepted, isKnown)
      return result.ok ? { run: result.value, stop: undefined } : result.error
    })
    if (fetched.stop !== undefined) {
      if (fetched.head !== undefined) this.#see(fetched.head, null)
      return fetched.stop
    }
    await this.#restore()
    if (!('commit' in fetched.run)) return this.#unreadStop() ?? this.#unchangedStop()
    const { run } = fetched as { run: Run }
    this.#see(run.head, run.commit)
    if (run.head === accepted) return this.#unreadStop() ?? this.#unchangedStop()
    await this.load()
    this.#see(run.head, run.commit)
    const stop = await this.#judge(run)
    if (stop.sync !== 'held' || stop.code === run.unread?.code) return stop
    return saidFirst.has(stop.code) ? stop : (this.#unreadStop() ?? stop)
  }

  /** Judges a head that is not the accepted commit. */
  async #judge(run: Run): Promise<Stop> {
    const basis = basisOf(run)
    if (this.#held?.basis === basis) return this.#held.stop
    this.#held = undefined
    run.before = this.#outline
    run.unread = this.#unreadHold()
    const stop = await this.#tried(run.head, () => this.#climb(run))
    // A head that could not be compared is judged anew once it can be.
    if (stop?.sync === 'held' && run.unread === undefined) this.#held = { basis, stop }
    if (stop === undefined) {
      const { publisher } = this.#parts
      assert(run.compiled !== undefined, 'a run that nothing has stopped has compiled its head')
      assert(publisher.accepted?.commit === run.head, 'a run that nothing has stopped accepts')
      this.#restored = syncedWith(run.compiled, run.backs)
      this.#outline = run.compiled.outline
      this.#unread = undefined
      const { tree } = run.commit
      const { commits, signatures, files, compiled, head } = run
      const removals = await removalsOf({ graph: this.#parts.graph, commits, signatures })
      this.#parts.onAccepted?.({ commit: head, tree, files, read: compiled.read, removals })
    }
    return stop ?? this.#restored ?? synced
  }

  /** Why nothing can be built on the accepted commit; undefined: its objects can be read. */
  #unreadStop(): Stop | undefined {
    return this.#unread === undefined ? undefined : stopOf(holdOf(this.#unread), this.#parts)
  }

  /** Why the next commit has nothing to be compared with. Errors of our own compiler are none. */
  #unreadHold(): Hold | undefined {
    if (this.#unread !== undefined) return holdOf(this.#unread)
    const { code, reason } = this.#restored ?? synced
    return code === 'CommitFatal' ? { code, reason } : undefined
  }

  #unchangedStop(): Stop {
    const there = this.#parts.inspect?.()
    if (there?.ok === false) return unreachable(there.error)
    return unlessSignersUnreadable(this.#parts, this.#restored ?? synced)
  }

  async #climb(run: Run): Promise<Stop | undefined> {
    for (const step of steps) {
      const { stop } = await this.#timed(step.name, async () => ({
        stop: await step.run(this.#parts, run),
      }))
      if (stop !== undefined) return stop
    }
    return undefined
  }

  /** Acts on a commit, unless reading it has ended this thread before. */
  async #tried(commit: string, act: () => Promise<Stop | undefined>): Promise<Stop | undefined> {
    const { trials, publisher } = this.#parts
    const hold = trials?.holdOf(commit)
    if (hold !== undefined) return stopOf(hold, this.#parts)
    trials?.begin(commit, publisher.accepted?.commit ?? null)
    try {
      return await act()
    } finally {
      trials?.end(commit)
    }
  }

  async #timed<T extends { stop?: Stop | undefined }>(
    step: string,
    run: () => Promise<T>,
  ): Promise<T> {
    const { clock } = this.#parts
    const [startMs, sinceMs] = [clock.nowMs(), clock.monotonicMs()]
    const outcome = await run()
    const endMs = startMs + clock.monotonicMs() - sinceMs
    const state = outcome.stop === undefined ? 'passed' : 'failed'
    this.#conditions.push({ step, state, startMs, endMs })
    return outcome
  }

  /**
   * Compiles the accepted commit once per process: warms the compiler, and publishes when the node
   * does not run it (a crash between persist and publish, a lost data directory, a new compiler).
   * Its signature was checked when it was accepted.
   */
  async #restore(): Promise<void> {
    const { accepted } = this.#parts.publisher
    if (this.#restored !== undefined) return
    if (accepted === null) this.#restored = synced
    else {
      if (await this.#resume(accepted)) return
      const stop = await this.#tried(accepted.commit, () => this.#restoreCommit(accepted))
      this.#restored ??= stop
    }
  }

  /** Continues with what a previous process left. @returns false: the commit has to be read */
  async #resume({ commit }: AcceptedCommit): Promise<boolean> {
    const { kept, publisher, graph, source } = this.#parts
    const { stored } = publisher
    if (!this.#mayResume || kept === undefined || stored === undefined) return false
    const found = kept.find(stored)
    const there = found && (await graph.commit(commit))
    if (found === undefined || there?.ok !== true || there.value.tree !== stored.tree) return false
    // Faults are found and reported by the full read, which follows.
    this.#mayResume = source.inspect(objectsOf(found)).ok
    if (!this.#mayResume) return false
    this.#see(commit, there.value)
    publisher.resume()
    this.#isKept = true
    this.#restored = syncedWith(found.head)
    kept.take(found)
    return true
  }

  async #restoreCommit(accepted: AcceptedCommit): Promise<undefined> {
    const { publisher, graph, reader, compiler, kept } = this.#parts
    const commit = await graph.commit(accepted.commit)
    const isServed = this.#mayResume && publisher.stored !== undefined
    if (commit.ok && isServed) reader.learn(kept?.readings() ?? [])
    const files = commit.ok ? await reader.read(commit.value.tree) : commit
    // Where a remote's mirror was lost, the fetch that follows brings it.
    this.#unread = commit.ok && files.ok ? undefined : (files as Err<ObjectError>).error
    if (!files.ok || !commit.ok) return
    this.#see(accepted.commit, commit.value)
    const outcome = compiler.compile(files.value, accepted.commit)
    if (outcome.ok) {
      // Without its serial it is served all the same: the number is counted another time.
      const counted = await serialOf(this.#parts, accepted.commit, accepted, [])
      const serial = counted.ok ? counted.value : 0
      const draft = publisher.sign(accepted.commit, outcome)
      const { tree } = commit.value
      publisher.publish(draft, { signer: accepted.signer, serial, tree })
      this.#outline = outcome.outline
      const read = { files: files.value, read: outcome.read }
      this.#parts.onAccepted?.({ commit: accepted.commit, tree, ...read, removals: 'git' })
    }
    this.#restored = outcome.ok ? syncedWith(outcome) : compileStop(accepted.commit, outcome)
  }

  /** @param commit null: it cannot be read */
  #see(oid: string, commit: CommitObject | null): void {
    const isNew = this.#status.head?.commit !== oid
    this.#status = { ...this.#status, head: headOf(oid, commit) }
    // Shown before it is judged, which may take seconds.
    if (isNew)
      this.#parts.report({ ...this.#status, sync: 'pending', code: '', reason: '', note: '' }, '')
  }

  #conclude(stop: Stop, lookedFromMs = this.#status.lookedFromMs): void {
    const { publisher, clock, report } = this.#parts
    const before = this.#status
    const nowMs = Math.floor(clock.nowMs())
    const sinceMs = stop.code === before.code ? before.sinceMs : nowMs
    this.#status = {
      ...before,
      ...stop,
      sinceMs: stop.code === '' ? 0 : sinceMs,
      faultAtMs: nowMs - before.faultAtMs < gitLimits.faultShownMs ? before.faultAtMs : 0,
      accepted: publisher.accepted,
      conditions: this.#conditions,
      lookedFromMs,
      checkedAtMs: nowMs,
    }
    report(this.#status, this.#changeSince(before))
  }

  #changeSince(before: GitopsStatus): string {
    const { sync, code, reason, note, accepted, diagnostics, head } = this.#status
    if (sync === 'synced') {
      if (
        accepted === null ||
        (before.sync === 'synced' && before.accepted?.commit === accepted.commit)
      )
        return ''
      if (before.accepted?.commit === accepted.commit && before.sync === 'held') {
        if (before.code === 'SignersUnreadable')
          return `allowed_signers can be read again; commit ${short(accepted.commit)} is the head`
        return `the branch is back at commit ${short(accepted.commit)}, which was accepted before`
      }
      if (before.accepted?.commit === accepted.commit && before.sync === 'unreachable')
        return `the repository can be used again; commit ${short(accepted.commit)} is the head`
      const by =
        accepted.signer === '' ? 'without a signature check' : `signed by ${accepted.signer}`
      const line = `commit ${short(accepted.commit)} is accepted, ${by}; it is seq ${accepted.seq}`
      const notes = note === '' ? [] : [note]
      return [line, ...notes, ...diagnostics.map(({ text }) => text)].join('\n')
    }
    const isSame = before.sync === sync && before.code === code && before.reason === reason
    if (isSame && before.head?.commit === head?.commit) return ''
    return [`${sync}, ${code}: ${reason}`, ...diagnostics.map(({ text }) => text)].join('\n')
  }
}

/**
 * Reasons that are shown in place of an accepted commit that cannot be read: a history without it
 * does not bring it back, and what the guardrails could compare no longer needs it.
 */
const saidFirst: ReadonlySet<Stop['code']> = new Set([
  'HistoryRewritten',
  'NamesRemoved',
  'GuardrailReached',
])

function headOf(oid: string, commit: CommitObject | null): NonNullable<GitopsStatus['head']> {
  if (commit === null) return { commit: oid, author: '', committedAtMs: 0 }
  const { author, committer } = commit
  return { commit: oid, author: author.name, committedAtMs: committer.seconds * 1000 }
}

/** The disk's refusal is for the operator; anything else that is thrown is a mistake of ours. */
function failureOf(error: unknown): SourceError {
  const refusal = diskError(error)
  if (refusal !== undefined) return refusal
  const { message } = error as Error
  const reason =
    `gslbd failed on this commit (${message}). That is a mistake of gslbd: please report it. ` +
    'The commit accepted before goes on serving.'
  return { code: 'InternalError', reason }
}
