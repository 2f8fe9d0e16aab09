// Writes one batch of requests: applied to the accepted commit, pushed by compare-and-swap,
// activated.
import type { ParentDs } from '#compiler/lower/name-outline.ts'
import { isRead } from '#compiler/read/layout.ts'
import { assert } from '#lib/assert.ts'
import type { Clock } from '#lib/clock.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { setTimeout as sleep } from 'node:timers/promises'
import { nameOfSigner } from '#gitops/trust/accept.ts'
import { findSigner } from '#gitops/trust/allowed-signers.ts'
import { failed } from '#config/fault.ts'
import type { ConfigDelta } from '#config/object-index.ts'
import type { ConfigSource, Push, PushFailure, SourceError } from '#gitops/source/config-source.ts'
import { diskError } from '#gitops/source/disk-error.ts'
import type { RememberingCompiler } from '#gitops/sync/compile-adapter.ts'
import { gitLimits } from '../limits.ts'
import { formatPublicKeyLine } from '#gitops/trust/openssh-key.ts'
import type { SshPrivateKey } from '#gitops/trust/openssh-key.ts'
import type { Draft, Publisher } from '#gitops/sync/publisher.ts'
import type { Reconciler } from '#gitops/sync/reconcile.ts'
import { readSigners } from '#gitops/trust/signers-file.ts'
import { ownFault } from '#gitops/status/status.ts'
import type { AcceptedCommit } from '#gitops/status/status.ts'
import { nodePrincipal } from '#gitops/trust/trust-file.ts'
import type { AcceptedConfig } from './accepted.ts'
import { viewerOf } from '#judge/effects/commit-effect.ts'
import type { CommitEffect } from '#judge/effects/commit-effect.ts'
import type { TenantViewer } from '#judge/sides/viewer.ts'
import { CommitJudge } from './commit-judge.ts'
import type { CommitJudgeParts, MovedVerdict } from './commit-judge.ts'
import { contended, diskFailure, late, notInGit, pushFailure, stopping } from './failures.ts'
import type { WriteFailure } from '#config/operation.ts'
import type { Prepared } from './prepare.ts'
import { PushFairness } from './push-fairness.ts'
import { selectRequests } from './select.ts'
import type { Pending, Selection } from './select.ts'
import { Stages } from './stages.ts'
import { effectOfNothing, effectOfRequest, writtenFiles } from './effect-of-request.ts'
import type { EffectOfRequest } from './effect-of-request.ts'

export interface WriterParts extends CommitJudgeParts {
  readonly source: ConfigSource
  readonly compiler: RememberingCompiler
  readonly publisher: Publisher
  readonly reconciler: Reconciler
  readonly accepted: AcceptedConfig
  /** See `GuardMemory`. */
  readonly parentDs?: () => ParentDs
  /** Whether the objects of the accepted commit are still in the repository. */
  readonly inspect: () => Result<void, SourceError>
  readonly key: SshPrivateKey
  readonly requireSignature: boolean
  readonly allowedSignersPath: string
  readonly clock: Clock
  /** 0 up to, not including, 1. */
  readonly random: () => number
  readonly stop: AbortSignal
  /** Receives the bundle while the commit is flushed, so that the node can check it meanwhile. */
  readonly onPrepare: (bundle: Uint8Array) => void
  /** Makes the reconciler look once this writer's turn is over. */
  readonly lookLater: () => void
  /** Called after the commit was handed over, and before its requests are answered. */
  readonly onConfig: (delta: ConfigDelta) => void
}

export class Writer {
  readonly #parts: WriterParts
  readonly #judge: CommitJudge
  readonly #fairness = new PushFairness()
  readonly #stages: Stages
  /** Whether the write under way has been pushed. */
  #isPushed = false
  /** Whether a request of this write failed an assertion. */
  #hasFault = false
  #startedOverMs = -Infinity

  constructor(parts: WriterParts) {
    this.#parts = parts
    this.#stages = new Stages(parts.clock)
    this.#judge = new CommitJudge(parts, (thrown) => parts.reconciler.noteFault(lineOf(thrown)))
  }

  /** Writes a batch and settles each request. Must not overlap with itself or the reconciler. */
  async write(batch: readonly Pending[]): Promise<void> {
    const open = new Set(batch)
    const settle: Settle = (pending, result) => {
      if (open.delete(pending)) pending.settle(result)
    }
    this.#hasFault = false
    try {
      await this.#writeEach(commitsOf(batch), settle)
      assert(open.size === 0, 'each write of a batch gets an answer')
      if (this.#hasFault) this.#startOverAtTimes()
    } catch (error) {
      const failure = this.#failureOf(error)
      const refusal = diskError(error)
      if (refusal === undefined) this.#startOver()
      // Before the requests are settled, since their clients may ask for the status.
      else this.#parts.reconciler.refuse(refusal)
      // The later look continues with the pushed commit, and reports remaining faults.
      this.#parts.lookLater()
      for (const pending of [...open]) settle(pending, err(failure))
    }
  }

  async #writeEach(
    commits: readonly (readonly Pending[])[],
    settle: Settle,
    back?: WayBack,
  ): Promise<void> {
    for (const together of commits) {
      this.#isPushed = false
      const failure = await this.#tryAgain(together, settle, back)
      if (failure !== undefined) for (const pending of together) settle(pending, err(failure))
    }
  }

  /**
   * Starts over, but not for each of many requests: one that is repeated must not delay the others.
   */
  #startOverAtTimes(): void {
    const agoMs = this.#parts.clock.monotonicMs() - this.#startedOverMs
    if (agoMs < gitLimits.startOverPauseMs) return
    this.#startOver()
    this.#parts.lookLater()
  }

  /** The memory may hold the fault, so that later writes would meet it again. */
  #startOver(): void {
    const { compiler, accepted, reconciler, clock } = this.#parts
    this.#startedOverMs = clock.monotonicMs()
    compiler.forget()
    accepted.forget()
    reconciler.forget()
  }

  async #tryAgain(
    batch: readonly Pending[],
    settle: Settle,
    back: WayBack | undefined,
  ): Promise<WriteFailure | undefined> {
    const { accepted, source, clock, stop } = this.#parts
    this.#stages.restart('wait', Math.min(...batch.map(({ sinceMs }) => sinceMs)))
    let tries = 0
    let rest = this.#timely(batch, settle, tries)
    let isFresh = source.isLocal
    let pauseMs = this.#yieldMs()
    for (; rest.length > 0; rest = this.#timely(rest, settle, tries)) {
      if (pauseMs > 0) {
        await this.#lookAgain(pauseMs)
        isFresh = true
      }
      if (stop.aborted) return stopping
      pauseMs = this.#retryMs()
      tries++
      const triedMs = clock.monotonicMs()
      const unready = await this.#makeReady()
      if (unready !== undefined) return unready
      // Git has no time before 1970.
      const atSeconds = Math.max(0, Math.floor(this.#parts.clock.nowMs() / 1000))
      const signer = this.#signer(atSeconds)
      if (!signer.ok) return failed('not-trusted', signer.error)
      const selected = await this.#select(rest, atSeconds)
      if (!selected.ok) return this.#notRead(selected.error)
      // Another writer may just have made what was not found: only a fresh look is a reason to
      // refuse.
      if (selected.value.failed.length > 0 && !isFresh) continue
      const { prepared, done } = selected.value
      this.#stages.begin('judge')
      const isBack = back !== undefined && back.base === accepted.commit
      const judged = isBack ? fine(back) : await this.#judge.judge(done, prepared)
      const isFinal = isFresh || judged.kind !== 'refused' || judged.failure.code === 'needs-plan'
      if (!isFinal) continue
      if (judged.kind !== 'fine') {
        await this.#writeOtherwise(judged, { done, batch: rest }, settle)
        return undefined
      }
      for (const { pending, failure } of selected.value.failed) settle(pending, err(failure))
      rest = done.map(({ pending }) => pending)
      if (prepared !== null && !rest.some(({ request }) => request.isDryRun === true)) {
        this.#stages.begin('commit')
        // With a remote another writer may win: each lost race would leave a bundle behind.
        const draft = source.isLocal ? this.#prepare(prepared) : undefined
        const pushed = await source.push(this.#pushOf(prepared))
        const nowMs = clock.monotonicMs()
        const problem = pushed.ok ? undefined : pushed.error
        if (problem?.kind === 'lost-race') {
          this.#fairness.meet(nowMs)
          continue
        }
        if (problem !== undefined) return this.#notWritten(prepared, problem)
        this.#isPushed = true
        this.#fairness.win(nowMs, nowMs - triedMs)
        this.#stages.begin('publish')
        const signed = { draft: draft ?? this.#sign(prepared), signer: signer.value }
        const viewed = this.#accept(prepared, { ...signed, backTo: judged.backTo })
        this.#stages.end()
        const effect = effectOfRequest(done, judged.effect, viewed)
        this.#tell(selected.value, settle, judged.backTo, effect)
        return undefined
      }
      this.#tell(selected.value, settle, judged.backTo)
      return undefined
    }
    return contended(tries)
  }

  async #select(batch: readonly Pending[], atSeconds: number): Promise<Result<Selection, string>> {
    const { diagnostics } = this.#parts.reconciler.status
    const { driver } = this.#parts.source
    const onFault = (thrown: unknown): WriteFailure => this.#fault(thrown)
    const own = { driver, diagnostics, onFault, stages: this.#stages }
    this.#stages.begin('prepare')
    return await selectRequests({ ...this.#parts, ...own }, batch, atSeconds)
  }

  /**
   * Fails requests that have waited, or lost races, for as long as a client waits.
   *
   * @returns the others
   */
  #timely(batch: readonly Pending[], settle: Settle, tries: number): readonly Pending[] {
    const nowMs = this.#parts.clock.monotonicMs()
    return batch.filter((pending) => {
      const isTimely = nowMs - pending.sinceMs < gitLimits.writeMs
      if (!isTimely) settle(pending, err(tries === 0 ? late : contended(tries)))
      return isTimely
    })
  }

  /**
   * Writes the requests in several commits, or as one commit that goes back. A request that failed
   * beside them is left out.
   */
  async #writeOtherwise(
    judged: Exclude<MovedVerdict, { readonly kind: 'fine' }>,
    { done, batch }: { readonly done: Selection['done']; readonly batch: readonly Pending[] },
    settle: Settle,
  ): Promise<void> {
    if (judged.kind === 'mixed') {
      const half = batch.length >> 1
      return await this.#writeEach([batch.slice(0, half), batch.slice(half)], settle)
    }
    const judgedOnes = done.map(({ pending }) => pending)
    if (judged.kind === 'refused') {
      for (const pending of judgedOnes) settle(pending, err(judged.failure))
    } else {
      const { commit: base } = this.#parts.accepted
      await this.#writeEach([judgedOnes], settle, { ...judged, base })
    }
    await this.#writeEach([batch.filter((one) => !judgedOnes.includes(one))], settle)
  }

  /** Fails one request, while the others go on. When the disk refuses, all fail. */
  #fault(thrown: unknown): WriteFailure {
    if (diskError(thrown) !== undefined) throw thrown
    this.#hasFault = true
    return this.#failureOf(thrown)
  }

  #failureOf(thrown: unknown): WriteFailure {
    const refusal = diskFailure(thrown, this.#isPushed)
    if (refusal !== undefined) return refusal
    this.#parts.reconciler.noteFault(lineOf(thrown))
    const what = this.#isPushed
      ? 'gslbd failed after this write: the change is in Git, and goes live when it is read anew.'
      : 'gslbd failed on this write.'
    return failed('internal', `${what} Its log says why; please report it.`)
  }

  /** A mirror that lacks objects that the write builds on is fetched anew. */
  #notRead(reason: string): WriteFailure {
    this.#parts.source.discard()
    this.#parts.lookLater()
    return failed('unreachable', `${reason} ${notInGit}`)
  }

  /** How long to yield before the first try; 0: not at all, the accepted commit is current. */
  #yieldMs(): number {
    const { source, clock, random } = this.#parts
    return source.isLocal ? 0 : this.#fairness.yieldMs(clock.monotonicMs(), random())
  }

  #retryMs(): number {
    return 1 + gitLimits.writeRetryMs * this.#parts.random()
  }

  async #lookAgain(pauseMs: number): Promise<void> {
    const { reconciler, accepted, clock, stop } = this.#parts
    await sleep(pauseMs, undefined, { signal: stop }).catch(() => undefined)
    if (stop.aborted) return
    const before = accepted.commit
    const fromMs = clock.monotonicMs()
    await reconciler.check()
    const nowMs = clock.monotonicMs()
    if (accepted.commit !== before) this.#fairness.meet(nowMs, nowMs - fromMs)
  }

  #tell(
    { done, prepared }: Selection,
    settle: Settle,
    backTo: string | undefined,
    effect?: EffectOfRequest,
  ): void {
    const revision = this.#parts.accepted.commit ?? ''
    const back = backTo === undefined ? {} : { backTo }
    for (const { pending, isChanged, ...outcome } of done) {
      const wantsBundle = pending.request.wantsBundle === true && prepared !== null
      // A copy, since the compiler reuses its memory.
      const more = wantsBundle
        ? { bundle: Uint8Array.from(prepared.compiled.bytes), files: writtenFiles(prepared) }
        : {}
      const isNew = isChanged && prepared !== null
      const words = isNew ? effect?.(pending.request) : effectOfNothing(pending.request)
      const said = words === undefined ? {} : { effect: words }
      const isTimed = isNew && pending.request.wantsStages === true
      const timed = isTimed ? { stages: this.#stages.end() } : {}
      settle(
        pending,
        ok({ ...outcome, ...more, ...back, ...said, ...timed, revision, isChanged: isNew }),
      )
    }
  }

  /** Ensures that the accepted commit is the head: no other commit is built on. */
  async #makeReady(): Promise<WriteFailure | undefined> {
    const { source, accepted, reconciler, inspect, lookLater } = this.#parts
    await reconciler.load()
    const head = source.isLocal ? await source.head() : ok(accepted.commit)
    const isHead = head.ok && head.value === accepted.commit
    const isSynced = isHead && accepted.commit !== null && reconciler.status.sync === 'synced'
    if (isSynced && inspect().ok) return undefined
    await reconciler.check()
    const { sync, code, reason, diagnostics, head: seen } = reconciler.status
    // The write found the fault, so no timer is set for another look.
    if (sync === 'unreachable' && source.isLocal) lookLater()
    if (sync === 'unreachable') return failed('unreachable', `${reason} ${notInGit}`)
    // The first commit of a repository may come from here, but not if it had commits before: this
    // one would be all that is left.
    const isFirst = accepted.commit === null && reconciler.status.accepted === null
    if (code === 'BranchMissing' && isFirst) return undefined
    // The commit itself is valid: the next look reports what is wrong with the signers.
    const isAccepted = accepted.commit !== null && accepted.commit === seen?.commit
    if (code === 'SignersUnreadable' && isAccepted) return undefined
    if (sync === 'held') {
      const errors = diagnostics.filter(({ severity }) => severity === 'error')
      return {
        ...failed('head-invalid', reason),
        diagnostics: errors.map(({ code: name, message, help, file, line }) => ({
          code: name,
          message,
          help,
          field: '',
          file,
          line,
        })),
      }
    }
    return accepted.commit === null
      ? failed('unavailable', 'The repository has not been read yet. Try again.')
      : undefined
  }

  /** The signer of the commit, checked as every node will check it. Errors: sentences. */
  #signer(atSeconds: number): Result<string, string> {
    const { requireSignature, allowedSignersPath, key } = this.#parts
    if (!requireSignature) return ok('')
    const { signers } = readSigners(allowedSignersPath)
    if (!signers.ok) return signers
    const { publicKey } = key
    const signer = findSigner(signers.value, { publicKey, namespace: 'git', atSeconds })
    if (signer.ok) return ok(nameOfSigner(signer.value))
    const line = formatPublicKeyLine(publicKey, 'gslbd node')
    return err(
      `Commits of this node would not be accepted: its key ${publicKey.fingerprint} is not in ` +
        `${allowedSignersPath}. On every node: gslbd trust add ${nodePrincipal} "${line}" ` +
        `--file ${allowedSignersPath}`,
    )
  }

  #pushOf({ commit, objects }: Prepared): Push {
    return { expected: this.#parts.accepted.commit, commit, objects }
  }

  #notWritten(
    prepared: Prepared,
    failure: Exclude<PushFailure, { kind: 'lost-race' }>,
  ): WriteFailure {
    if (failure.kind === 'not-done') {
      this.#parts.reconciler.refuse(failure.error, this.#pushOf(prepared))
      this.#parts.lookLater()
    }
    return pushFailure(failure)
  }

  #sign({ commit, compiled }: Prepared): Draft {
    return this.#parts.publisher.sign(commit, compiled)
  }

  #prepare(prepared: Prepared): Draft {
    const draft = this.#sign(prepared)
    this.#parts.onPrepare(draft.bytes)
    return draft
  }

  #accept(
    { commit, tree, object, changes, compiled }: Prepared,
    { draft, signer, backTo }: { draft: Draft; signer: string; backTo: string | undefined },
  ): (tenant: string) => TenantViewer {
    const { publisher, accepted, reconciler, onConfig } = this.#parts
    assert(draft.commit === commit, 'the bundle was made of the commit that was pushed')
    const parent = object.parents[0] ?? null
    assert(parent === accepted.commit, 'the commit that was pushed stands on the accepted one')
    const { index } = accepted
    // The bundle is handed over first, since requests wait for its activation.
    const removals = object.override === '' ? 'api' : 'override'
    const paths = [...changes.keys()].filter(isRead)
    const backs = backTo === undefined ? [] : [{ commit: backTo, paths }]
    const succession = { isRoutine: removals === 'api', backs }
    const serial = serialAfter(publisher.accepted)
    publisher.publish(draft, { signer, serial, tree, succession })
    const { read } = compiled
    const delta = accepted.extend({ commit, tree, changes, read, removals })
    onConfig(delta)
    reconciler.adopt(commit, object, compiled)
    return (tenant) => {
      const before = [...delta.changed, ...delta.removed].flatMap(
        ({ kind, uid }) => index.get(kind, uid) ?? [],
      )
      return viewerOf(tenant, [...before, ...delta.changed])
    }
  }
}

type Settle = (pending: Pending, result: Parameters<Pending['settle']>[0]) => void

/**
 * A commit that a request goes back to, found from `base`: from another commit it is judged anew.
 */
interface WayBack {
  readonly commit: string
  readonly effect: CommitEffect | undefined
  readonly base: string | null
}

const fine = ({ commit, effect }: WayBack) => ({ kind: 'fine', effect, backTo: commit }) as const

/** The error in one line of the log. */
function lineOf(thrown: unknown): string {
  const { stack = String(thrown) } = thrown as Error
  return `${ownFault}, please report it: ${stack.replaceAll(/\s*\n\s*/g, ' | ')}`
}

/** The serial of a commit whose parent is the accepted one. */
function serialAfter(accepted: AcceptedCommit | null): number {
  if (accepted === null) return 1
  return accepted.serial === 0 ? 0 : accepted.serial + 1
}

/** Splits a batch into commits. A dry run is alone, after the writes before it. */
function commitsOf(batch: readonly Pending[]): readonly (readonly Pending[])[] {
  const [writes, alone] = [[], []] as [Pending[], Pending[]]
  for (const pending of batch) {
    const { isDryRun, judgement } = pending.request
    const isAlone = isDryRun === true || judgement?.by === 'plan'
    if (isAlone) alone.push(pending)
    else writes.push(pending)
  }
  return [...(writes.length === 0 ? [] : [writes]), ...alone.map((one) => [one])]
}
