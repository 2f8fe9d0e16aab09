// Refuses requests that send more clients elsewhere than `guardrails.movedClients` permits.
import type { ConfigWriter } from '#api/config/writer.ts'
import type { WriteFailure, WriteRequest } from '#config/operation.ts'
import type { Log } from '#lib/log.ts'
import type { MoveLimits } from '#compiler/plan/name-outline.ts'
import { movedBeyond } from '#gitops/guard/moved.ts'
import type { MovedBreach } from '#gitops/guard/moved.ts'
import { err, ok } from '#lib/result.ts'
import { effectLimits } from './effects.ts'

export interface MovedGuardParts {
  /** Of which a dry run says its effect. */
  readonly writer: ConfigWriter & { readonly close?: () => Promise<void> }
  readonly limits: () => MoveLimits
  readonly log: Pick<Log, 'warn'>
}

/**
 * A write is planned before it is made, where there is a limit, of the whole or of a tenant, and
 * nobody says that it is meant; or where its effect is wanted. What cannot be planned in time
 * (`effectLimits`) is made, and says that it was not judged: the limit is for mistakes.
 */
export class MovedGuard implements ConfigWriter {
  readonly #parts: MovedGuardParts
  /** Writes that are being planned. */
  #underWay = 0

  constructor(parts: MovedGuardParts) {
    this.#parts = parts
  }

  write: ConfigWriter['write'] = async (request) => {
    const { writer, log } = this.#parts
    const limits = this.#parts.limits()
    const isLimited = limits.all !== null || limits.tenants.size > 0
    const isJudging = isLimited && request.override === undefined
    if (!isJudging && request.wantsEffect !== true) return await writer.write(request)
    const isBusy = this.#underWay >= effectLimits.waitingMax
    if (isBusy && !isJudging && request.isDryRun !== true) return await this.#unplanned(request)
    const tried = await this.#planned(request)
    if (!tried.ok) return tried
    const breach = isJudging ? movedBeyond(limits, tried.value.moved ?? []) : undefined
    if (breach !== undefined) return err(movedTooMany(breach))
    const effect = tried.value.effect ?? (tried.value.isChanged ? unknownEffect : noEffect)
    const made = request.isDryRun === true ? tried : await writer.write(request)
    if (!made.ok) return made
    if (isJudging && effect === unknownEffect && request.isDryRun !== true) {
      const { requestId, actor } = request
      const fields = { requestId, actor: actor.name, revision: made.value.revision }
      log.warn({ ...fields, movedClients: limits.all }, notJudged)
    }
    return ok({ ...made.value, effect })
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
    return ok({ ...made.value, effect: made.value.isChanged ? unknownEffect : noEffect })
  }
}

const unknownEffect = 'moved=unknown'
const noEffect = 'moved=0%; names=0'
const notJudged =
  'a write was made without being judged by guardrails.movedClients: it could not be planned in time'

function movedTooMany({ words, tenant }: MovedBreach): WriteFailure {
  const limit = tenant === '' ? 'guardrails.movedClients' : 'guardrails.tenants, movedClients'
  const what = `This would ${words.replace(/^sends/, 'send')} (${limit}).`
  const message =
    `${what} POST /api/v1/plan says which. If that is meant, ` +
    'send it again with the header X-Gslb-Override: REASON; the reason is kept in the commit.'
  const guardrail = 'movedClients'
  // A limit of one tenant speaks of its names alone.
  const own = tenant === '' ? {} : { ownMessage: what }
  return { code: 'guarded', guardrail, message, ...own, operation: -1, diagnostics: [] }
}
