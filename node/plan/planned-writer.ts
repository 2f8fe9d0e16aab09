// Plans writes in a thread: dry runs, those whose effect is wanted, and those not judged without.
import type { MoveLimits } from '#compiler/lower/name-outline.ts'
import type { ConfigWriter, WriteRequest, WriteResult } from '#config/operation.ts'
import { short } from '#gitops/trust/accept.ts'
import { noEffect } from '#judge/effects/commit-effect.ts'
import { movedBeyond } from '#judge/guard/moved-limit.ts'
import type { Clock } from '#lib/clock.ts'
import type { Log } from '#lib/log.ts'
import { ok } from '#lib/result.ts'
import type { LiveNode } from '#server/node/live-node.ts'
import { copyOfBundle } from './bundle-copy.ts'
import type { Effect } from './effect-job.ts'
import { PlanThread } from './plan-thread.ts'

/** What is beyond them goes without a plan, and is not judged by `guardrails.movedClients`. */
export const plannedWriteLimits = {
  /** Plans at once, the one under way among them. */
  waitingMax: 4,
  /** For one plan, and before it for its turn; docs/operations/plan.md and trust.md say so. */
  jobMs: 10_000,
} as const

export interface PlannedWriterParts {
  readonly writer: ConfigWriter
  readonly limits: () => MoveLimits
  /** What answers now; undefined: nothing. */
  readonly node: () => LiveNode | undefined
  readonly log: Pick<Log, 'warn'>
  readonly clock: Clock
  /** Default `plannedWriteLimits.jobMs`. */
  readonly jobMs?: number
}

interface Planned {
  /** Result of the dry run. */
  readonly tried: WriteResult
  /** undefined: it could not be planned in time, or nothing changes. */
  readonly effect?: Effect | undefined
}

/**
 * The writer below judges what a request moves where that is quickly found out. What takes longer
 * is planned here, and made with what the plan says; what cannot be planned in time is made, and
 * says that it was not judged: the limit is for mistakes.
 */
export class PlannedWriter implements ConfigWriter {
  readonly #parts: PlannedWriterParts
  readonly #thread: PlanThread<Effect>
  /** Plans that are wanted, and not made yet. */
  #underWay = 0
  /** Until all plans that judge are made. */
  #turn: Promise<unknown> = Promise.resolve()

  constructor(parts: PlannedWriterParts) {
    this.#parts = parts
    const { jobMs = plannedWriteLimits.jobMs } = parts
    this.#thread = new PlanThread({ ...plannedWriteLimits, jobMs })
  }

  write: ConfigWriter['write'] = async (request) => {
    const { writer } = this.#parts
    // The caller plans it itself.
    if (request.wantsBundle === true) return await writer.write(request)
    if (request.isDryRun === true) return await this.#tried(request)
    // Behind so many others it would wait for its turn until it is too late to be made.
    const isBusy = this.#underWay >= plannedWriteLimits.waitingMax
    if (request.wantsEffect === true && !isBusy) {
      return await this.#made(request, await this.#planned(request))
    }
    const made = await writer.write(request)
    if (made.ok) return withEffect(made, made.value.effect)
    if (made.error.code !== 'unjudged') return made
    return await this.#made(request, await this.#inTurn(request))
  }

  async close(): Promise<void> {
    await this.#thread.close()
  }

  async #tried(request: WriteRequest): Promise<WriteResult> {
    const { tried, effect } = await this.#planned(request)
    if (!tried.ok || effect === undefined) return tried
    const isFine = movedBeyond(this.#parts.limits(), effect.moved) === undefined
    if (isFine) return withEffect(tried, effect.text)
    return withEffect(
      await this.#parts.writer.write({ ...request, moved: effect.moved }),
      effect.text,
    )
  }

  /** @param planned undefined: there was no time for it */
  async #made(request: WriteRequest, planned: Planned | undefined): Promise<WriteResult> {
    if (planned?.tried.ok === false) return planned.tried
    const effect = planned?.effect
    const { effectFor: _planned, ...untold } = request
    const judged = { ...untold, moved: effect?.moved ?? null }
    const made = await this.#parts.writer.write(judged)
    if (!made.ok) return made
    const { isChanged, revision } = made.value
    if (effect === undefined && isChanged) this.#warn(request, revision)
    return withEffect(made, effect?.text ?? (isChanged ? unknownEffect : noEffect))
  }

  #warn({ requestId, actor, override }: WriteRequest, revision: string): void {
    const { all, tenants } = this.#parts.limits()
    if ((all === null && tenants.size === 0) || override !== undefined) return
    const { name, email: userEmail = '' } = actor
    const fields = { requestId, actor: name, userEmail, revision }
    this.#parts.log.warn({ ...fields, movedClients: all }, notJudged)
  }

  /** One plan after the other. @returns undefined: its turn has come too late */
  async #inTurn(request: WriteRequest): Promise<Planned | undefined> {
    const { clock, jobMs = plannedWriteLimits.jobMs } = this.#parts
    const sinceMs = clock.monotonicMs()
    const planned = this.#turn.then(async () => {
      const isLate = clock.monotonicMs() - sinceMs > jobMs
      return isLate ? undefined : await this.#planned(request)
    })
    this.#turn = planned.catch(() => undefined)
    return await planned
  }

  async #planned(request: WriteRequest): Promise<Planned> {
    this.#underWay++
    try {
      const wanted = { isDryRun: true, wantsBundle: true, moved: null } as const
      const done = await this.#parts.writer.write({ ...request, ...wanted })
      if (!done.ok) return { tried: done }
      const { bundle, files: _files, ...tried } = done.value
      return { tried: ok(tried), effect: bundle && (await this.#effectOf(bundle)) }
    } finally {
      this.#underWay--
    }
  }

  async #effectOf(next: Uint8Array): Promise<Effect | undefined> {
    const { node, clock } = this.#parts
    const effect = await this.#thread.run(() => {
      const live = node()
      if (live === undefined) return undefined
      const { tables } = live
      return { kind: 'effect', ...copyOfBundle(live), tables, next, nowMs: clock.nowMs() }
    })
    return typeof effect === 'string' ? undefined : effect
  }
}

function withEffect(done: WriteResult, effect: string | undefined): WriteResult {
  if (!done.ok || effect === undefined) return done
  const { backTo } = done.value
  const back = backTo === undefined ? '' : `; back=${short(backTo)}`
  return ok({ ...done.value, effect: `${effect}${back}` })
}

const unknownEffect = 'moved=unknown'

const notJudged =
  'a write was made without being judged by guardrails.movedClients: it could not be planned in time'
