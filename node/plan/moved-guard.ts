// Refuses requests that send more clients elsewhere than `guardrails.movedClients` permits.
import type {
  ConfigWriter,
  EarlierBundle,
  WriteFailure,
  WriteFailureCode,
  WriteRequest,
  WriteResult,
  WriteSuccess,
} from '#config/operation.ts'
import type { ConfigSnapshot } from '#config/object-index.ts'
import type { Clock } from '#lib/clock.ts'
import type { Log } from '#lib/log.ts'
import type { Moved, MoveLimits } from '#compiler/lower/name-outline.ts'
import { noEffect } from '#judge/effects/commit-effect.ts'
import { movedBeyond, movedSentence } from '#judge/guard/moved-limit.ts'
import type { MovedBreach } from '#judge/guard/moved-limit.ts'
import { err, ok } from '#lib/result.ts'
import { short } from '#gitops/trust/accept.ts'
import { effectLimits, goneBackTo } from './effects.ts'
import type { MovedFrom } from './effects.ts'
import { TogetherPlanner } from './planned-together.ts'
import type { Outcome } from './planned-together.ts'
import { subjectsOf } from './write-subjects.ts'

export interface MovedGuardParts {
  /** A writer whose dry runs say their effect. */
  readonly writer: ConfigWriter & { readonly close?: () => Promise<void> }
  readonly limits: () => MoveLimits
  /** From what answered before, to what would. */
  readonly movedFrom: MovedFrom
  readonly log: Pick<Log, 'warn'>
  readonly config: () => ConfigSnapshot
  readonly clock: Clock
}

/**
 * A write is planned before it is made, where there is a limit, of the whole or of a tenant, and
 * nobody says that it is meant; or where its effect is wanted. What cannot be planned in time
 * (`effectLimits`) is made, and says that it was not judged: the limit is for mistakes. Writes that
 * wait to be judged at the same time are planned together.
 */
export class MovedGuard implements ConfigWriter {
  readonly #parts: MovedGuardParts
  readonly #together: TogetherPlanner
  /** Writes that are being planned. */
  #underWay = 0

  constructor(parts: MovedGuardParts) {
    this.#parts = parts
    this.#together = new TogetherPlanner({
      plan: (request) => this.#planned(request),
      outcome: (tried) => this.#outcome(tried),
      // A request that wants its effect is planned alone, so that it is told of itself only.
      subjects: (request) =>
        request.wantsEffect === true ? null : subjectsOf(parts.config(), request),
      clock: parts.clock,
    })
  }

  write: ConfigWriter['write'] = async (request) => {
    const { writer } = this.#parts
    const limits = this.#parts.limits()
    const isLimited = limits.all !== null || limits.tenants.size > 0
    const isJudging = isLimited && request.override === undefined
    if (isJudging) return await this.#judged(request, limits)
    if (request.wantsEffect !== true) return await writer.write(request)
    const isBusy = this.#underWay >= effectLimits.waitingMax
    if (isBusy && request.isDryRun !== true) return await this.#unplanned(request)
    const tried = await this.#planned(request)
    if (!tried.ok) return tried
    const effect = effectOf(tried.value)
    const made = request.isDryRun === true ? tried : await writer.write(untold(request))
    return made.ok ? ok({ ...made.value, effect }) : made
  }

  async #judged(request: WriteRequest, limits: MoveLimits): ReturnType<ConfigWriter['write']> {
    const isDryRun = request.isDryRun === true
    // A dry run is planned alone, so that it is told of itself only.
    const planned = isDryRun
      ? { tried: await this.#planned(request), count: 1 }
      : await this.#together.plan(request)
    const tried = planned?.tried
    if (tried?.ok === false) return tried
    const count = planned?.count ?? 1
    // A plan of many requests was judged as it was made.
    const breach = count > 1 ? undefined : movedBeyond(limits, tried?.value.moved ?? [])
    const moved = tried?.value.moved ?? []
    const back = breach && (await this.#goneBackTo(request, limits, moved))
    if (breach !== undefined && back === undefined) return err(movedTooMany(breach))
    const { writer } = this.#parts
    const backTo = typeof back === 'object' ? { backTo: back.commit } : {}
    const asked = { ...(count === 1 ? untold(request) : request), ...backTo }
    const made = isDryRun && tried !== undefined ? tried : await writer.write(asked)
    if (!made.ok) return made
    // What the commit tells of itself is no judgement.
    const told = effectOf(tried?.value ?? { isChanged: made.value.isChanged })
    const effect = back === undefined ? told : `${told}; back=${wordOf(back)}`
    if ((effect === unknownEffect || back === 'unknown') && !isDryRun) {
      const { requestId, actor } = request
      const { name, email: userEmail = '' } = actor
      const fields = { requestId, actor: name, userEmail, revision: made.value.revision }
      this.#parts.log.warn({ ...fields, movedClients: limits.all }, notJudged)
    }
    // What others move, who are perhaps of another tenant, is not theirs to know.
    const own = made.value.effect ?? `moved=permitted; together=${count}`
    return ok({ ...made.value, effect: count === 1 ? effect : own })
  }

  /** Looks whether the request moves clients back to where they were. */
  async #goneBackTo(
    request: WriteRequest,
    limits: MoveLimits,
    moved: readonly Moved[],
  ): ReturnType<typeof goneBackTo> {
    const { writer, movedFrom, clock } = this.#parts
    const wanted = { isDryRun: true, wantsBundle: true, wantsEarlier: true } as const
    const tried = await writer.write({ ...request, ...wanted })
    return tried.ok ? await goneBackTo(tried.value, { limits, moved }, movedFrom, clock) : undefined
  }

  #outcome(tried: WriteResult): Outcome {
    if (!tried.ok) return aboutOne.includes(tried.error.code) ? 'mixed' : 'fine'
    if (effectOf(tried.value) === unknownEffect) return 'unknown'
    const breach = movedBeyond(this.#parts.limits(), tried.value.moved ?? [])
    return breach === undefined ? 'fine' : 'mixed'
  }

  async close(): Promise<void> {
    await this.#parts.writer.close?.()
  }

  async #planned(request: WriteRequest): ReturnType<ConfigWriter['write']> {
    this.#underWay++
    try {
      return await this.#parts.writer.write({ ...request, isDryRun: true })
    } finally {
      this.#underWay--
    }
  }

  /** Behind so many others it would wait for its turn until it is too late to be made. */
  async #unplanned(request: WriteRequest): ReturnType<ConfigWriter['write']> {
    const made = await this.#parts.writer.write(request)
    if (!made.ok) return made
    return ok({ ...made.value, effect: effectOf(made.value) })
  }
}

/** It is planned already. */
const untold = ({ effectFor: _effectFor, ...request }: WriteRequest): WriteRequest => request

const wordOf = (back: EarlierBundle | 'unknown'): string =>
  back === 'unknown' ? back : short(back.commit)

const unknownEffect = 'moved=unknown'
/** What one request may be refused for; all else would be said of each. */
const aboutOne: readonly WriteFailureCode[] = [
  ...(['not-found', 'forbidden', 'conflict', 'precondition-failed', 'too-many'] as const),
  ...(['guarded', 'invalid', 'internal'] as const),
]

const effectOf = ({ effect, isChanged }: Pick<WriteSuccess, 'effect' | 'isChanged'>): string =>
  effect ?? (isChanged ? unknownEffect : noEffect)

const notJudged =
  'a write was made without being judged by guardrails.movedClients: it could not be planned in time'

function movedTooMany(breach: MovedBreach): WriteFailure {
  const what = movedSentence(breach, true)
  const message =
    `${what} POST /api/v1/plan says which. If that is meant, ` +
    'send it again with the header X-Gslb-Override: REASON; the reason is kept in the commit.'
  const guardrail = 'movedClients'
  const own = { tenant: breach.owner, message: what }
  return { code: 'guarded', guardrail, message, own, operation: -1, diagnostics: [] }
}
