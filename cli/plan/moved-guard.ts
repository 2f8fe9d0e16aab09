// Refuses requests that send more clients elsewhere than `guardrails.movedClients` permits.
import type { ConfigWriter } from '#api/config/writer.ts'
import type { WriteFailure } from '#config/operation.ts'
import type { Log } from '#lib/log.ts'
import { err, ok } from '#lib/result.ts'

export interface MovedGuardParts {
  /** Of which a dry run says its effect. */
  readonly writer: ConfigWriter & { readonly close?: () => Promise<void> }
  /** Percent; null: there is no limit. */
  readonly limit: () => number | null
  readonly log: Pick<Log, 'warn'>
}

/**
 * A write is planned before it is made, where there is a limit and nobody says that it is meant.
 * What cannot be planned in time (`effectLimits`) is made, and says that it was not judged: the
 * limit is for mistakes.
 */
export class MovedGuard implements ConfigWriter {
  readonly #parts: MovedGuardParts

  constructor(parts: MovedGuardParts) {
    this.#parts = parts
  }

  write: ConfigWriter['write'] = async (request) => {
    const { writer, limit, log } = this.#parts
    const percentMax = limit()
    if (percentMax === null || request.override !== undefined) return await writer.write(request)
    const tried = await writer.write({ ...request, isDryRun: true })
    if (!tried.ok) return tried
    const moved = movedIn(tried.value.effect)
    if (moved > percentMax) return err(movedTooMany(moved, percentMax))
    const isJudged = tried.value.effect !== undefined || !tried.value.isChanged
    const made = request.isDryRun === true ? tried : await writer.write(request)
    if (isJudged || !made.ok) return made
    if (request.isDryRun !== true) {
      const { requestId, actor } = request
      const fields = { requestId, actor: actor.name, revision: made.value.revision }
      log.warn({ ...fields, movedClients: percentMax }, notJudged)
    }
    return ok({ ...made.value, effect: unknownEffect })
  }

  async close(): Promise<void> {
    await this.#parts.writer.close?.()
  }
}

const unknownEffect = 'moved=unknown'
const notJudged =
  'a write was made without being judged by guardrails.movedClients: it could not be planned in time'

/** Of `moved=12.4%; names=3`. */
function movedIn(effect: string | undefined): number {
  return Number(/^moved=([\d.]+)%/.exec(effect ?? '')?.[1] ?? 0)
}

function movedTooMany(moved: number, percentMax: number): WriteFailure {
  const message =
    `This would send ${moved} % of the clients of a name elsewhere, more than the ` +
    `${percentMax} % of guardrails.movedClients. POST /api/v1/plan says which. If that is meant, ` +
    'send it again with the header X-Gslb-Override: REASON; the reason is kept in the commit.'
  const guardrail = 'movedClients'
  return { code: 'guarded', guardrail, message, operation: -1, diagnostics: [] }
}
