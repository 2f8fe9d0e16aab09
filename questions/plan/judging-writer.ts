// Judges by a plan, in a thread, what a write moves before it is made: for dry runs, on request,
// and where the writer of commits cannot tell by itself.
import type { MoveLimits } from '#judge/guard/moved-limit.ts'
import type {
  CommitResult,
  CommitWriter,
  ConfigWriter,
  MovedJudgement,
  WriteRequest,
  WriteResult,
} from '#config/operation.ts'
import { short } from '#gitops/trust/accept.ts'
import { noEffect } from '#judge/effects/commit-effect.ts'
import { limitsMoves, movedBeyond } from '#judge/guard/moved-limit.ts'
import { assert } from '#lib/assert.ts'
import type { Clock } from '#lib/clock.ts'
import type { Log } from '#lib/log.ts'
import { err, ok } from '#lib/result.ts'
import type { LiveNode } from '#server/node/live-node.ts'
import { copyOfBundle } from './bundle-copy.ts'
import type { Effect } from './effect-job.ts'
import { PlanThread } from './plan-thread.ts'
import type { NotDone } from '#system/worker/job-thread.ts'

/** Beyond these limits `guardrails.movedClients` does not judge a write. */
export const judgingLimits = {
  /** Plans at the same time, including the one under way. */
  waitingMax: 4,
  /**
   * Time for one plan, and before it for its turn; docs/operations/plan.md and trust.md state it.
   */
  jobMs: 10_000,
} as const

interface JudgingWriterParts {
  readonly writer: CommitWriter
  readonly limits: () => MoveLimits
  /** Bundle and state that answer now; undefined: there is no bundle. */
  readonly node: () => LiveNode | undefined
  readonly log: Pick<Log, 'warn'>
  readonly clock: Clock
  /** Time for one plan; default `judgingLimits.jobMs`. */
  readonly jobMs?: number
}

interface Planned {
  /** Result of a dry run. */
  readonly tried: WriteResult
  /** Left out: nothing changes. */
  readonly effect?: Effect | NotDone
}

/**
 * Writes with a judgement. The writer of commits judges what a request moves if that is quick. A
 * request that takes longer is planned here first, and made with the result. One that cannot be
 * planned in time is made without a judgement, and its answer says so: the limit is a protection
 * from mistakes.
 */
export class JudgingWriter implements ConfigWriter {
  readonly #parts: JudgingWriterParts
  readonly #thread: PlanThread<Effect>
  /** A thread of its own, so that judgements do not wait behind dry runs. */
  readonly #judging: PlanThread<Effect>
  /** Plans that are requested and not finished. */
  #underWay = 0
  /** Resolves when all plans for judgements are finished. */
  #turn: Promise<unknown> = Promise.resolve()

  constructor(parts: JudgingWriterParts) {
    this.#parts = parts
    const { jobMs = judgingLimits.jobMs } = parts
    this.#thread = new PlanThread({ ...judgingLimits, jobMs })
    this.#judging = new PlanThread({ waitingMax: 1, jobMs })
  }

  write: ConfigWriter['write'] = async (request) => {
    const { writer, clock } = this.#parts
    // The caller makes the plan itself.
    if (request.wantsBundle === true) {
      return await this.#judged(request, request.judgement ?? byNobody)
    }
    if (request.isDryRun === true) return await this.#tried(request)
    const sinceMs = clock.monotonicMs()
    const made = unlessPlanned(await writer.write(request))
    if (made !== undefined) return withEffect(made, made.ok ? made.value.effect : undefined)
    const planned = this.#isLimited(request)
      ? await this.#inTurn(request)
      : await this.#unlessBusy(request)
    return await this.#made(request, planned, sinceMs)
  }

  async close(): Promise<void> {
    await Promise.all([this.#thread.close(), this.#judging.close()])
  }

  /** The effect comes from a plan, so no other plan is needed. */
  async #judged(request: WriteRequest, judgement: MovedJudgement): Promise<WriteResult> {
    const made = unlessPlanned(await this.#parts.writer.write({ ...request, judgement }))
    assert(made !== undefined, 'a write that has a judgement needs no plan')
    return made
  }

  /** @returns undefined: so many wait that it would be too late to be made */
  async #unlessBusy(request: WriteRequest): Promise<Planned | undefined> {
    if (this.#underWay >= judgingLimits.waitingMax) return undefined
    return await this.#planned(request, this.#thread)
  }

  #isLimited({ override }: WriteRequest): boolean {
    return override === undefined && limitsMoves(this.#parts.limits())
  }

  async #tried(request: WriteRequest): Promise<WriteResult> {
    const { tried, effect } = await this.#planned(request, this.#thread)
    if (!tried.ok || !isEffect(effect)) return tried
    const { moved, text } = effect
    const isFine = movedBeyond(this.#parts.limits(), moved) === undefined
    const judged = isFine ? tried : await this.#judged(request, { by: 'plan', moved })
    return withEffect(judged, text)
  }

  /** @param planned undefined: there was no time for a plan */
  async #made(
    request: WriteRequest,
    planned: Planned | undefined,
    sinceMs: number,
  ): Promise<WriteResult> {
    const { effectFor, ...withoutEffect } = request
    const wantsEffect = effectFor !== undefined
    if (planned !== undefined) {
      const { tried } = planned
      if (!tried.ok) return tried
      // Another request has made the same change meanwhile.
      if (!tried.value.isChanged) return withEffect(tried, wantsEffect ? noEffect : undefined)
    }
    const effect = isEffect(planned?.effect) ? planned.effect : undefined
    const waitedMs = this.#parts.clock.monotonicMs() - sinceMs
    const judgement = effect ? ({ by: 'plan', moved: effect.moved } as const) : byNobody
    const made = await this.#judged({ ...withoutEffect, waitedMs }, judgement)
    if (!made.ok) return made
    const { isChanged, revision } = made.value
    if (effect === undefined && isChanged && this.#isLimited(request)) this.#warn(request, revision)
    const text = effect?.text ?? (isChanged ? unknownEffect : noEffect)
    return withEffect(made, wantsEffect ? text : undefined)
  }

  #warn({ requestId, actor: { name, email = '' } }: WriteRequest, revision: string): void {
    const fields = { requestId, actor: name, userEmail: email, revision }
    const movedClients = this.#parts.limits()?.movedClients ?? null
    this.#parts.log.warn({ ...fields, movedClients }, notJudged)
  }

  /**
   * Makes plans one after the other.
   *
   * @returns undefined: its turn came too late
   */
  async #inTurn(request: WriteRequest): Promise<Planned | undefined> {
    const { clock, jobMs = judgingLimits.jobMs } = this.#parts
    const sinceMs = clock.monotonicMs()
    const planned = this.#turn.then(async () => {
      const isLate = clock.monotonicMs() - sinceMs > jobMs
      return isLate ? undefined : await this.#planned(request, this.#judging)
    })
    this.#turn = planned.catch(() => undefined)
    return await planned
  }

  async #planned(request: WriteRequest, thread: PlanThread<Effect>): Promise<Planned> {
    this.#underWay++
    try {
      // Tried again when another commit became active after the dry run.
      for (const isLast of [false, true]) {
        const wanted = { ...request, isDryRun: true, wantsBundle: true } as const
        const done = await this.#judged(wanted, byNobody)
        if (!done.ok) return { tried: done }
        const { bundle, files: _files, ...tried } = done.value
        if (bundle === undefined) return { tried: ok(tried) }
        const effect = await this.#effectOf(bundle, isLast ? undefined : tried.revision, thread)
        if (effect !== undefined) return { tried: ok(tried), effect }
      }
    } finally {
      this.#underWay--
    }
    assert(false, 'the last plan is made on whatever answers')
  }

  /**
   * @param base the commit that must be active; undefined: any
   *
   * @returns undefined: another commit is active
   */
  async #effectOf(
    next: Uint8Array,
    base: string | undefined,
    thread: PlanThread<Effect>,
  ): Promise<Effect | NotDone | undefined> {
    const { node, clock } = this.#parts
    let isOther = false
    const effect = await thread.run(() => {
      const live = node()
      if (live === undefined) return undefined
      isOther = base !== undefined && live.commit !== base
      if (isOther) return undefined
      const { tables } = live
      return { kind: 'effect', ...copyOfBundle(live), tables, next, nowMs: clock.nowMs() }
    })
    return isOther ? undefined : effect
  }
}

const byNobody = { by: 'nobody' } as const

/** @returns undefined: the request needs a plan */
export function unlessPlanned(done: CommitResult): WriteResult | undefined {
  if (done.ok) return done
  const { code, ...failure } = done.error
  return code === 'needs-plan' ? undefined : err({ ...failure, code })
}

const isEffect = (effect: Planned['effect']): effect is Effect => typeof effect === 'object'

function withEffect(done: WriteResult, effect: string | undefined): WriteResult {
  if (!done.ok || effect === undefined) return done
  const { backTo } = done.value
  const back = backTo === undefined ? '' : `; back=${short(backTo)}`
  return ok({ ...done.value, effect: `${effect}${back}` })
}

const unknownEffect = 'moved=unknown'

const notJudged =
  'a write was made without being judged by guardrails.movedClients: it could not be planned in time'
