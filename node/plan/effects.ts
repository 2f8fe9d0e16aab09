// Dry runs say their effect: what would be is planned against what answers, in a thread.
import type { Clock } from '#lib/clock.ts'
import { ok } from '#lib/result.ts'
import type { Moved, MoveLimits } from '#compiler/lower/name-outline.ts'
import type { ConfigWriter, EarlierBundle, WriteSuccess } from '#config/operation.ts'
import { movedBeyond, notBack } from '#judge/guard/moved-limit.ts'
import type { LiveNode } from '#server/node/live-node.ts'
import { copyOfBundle } from './bundle-copy.ts'
import type { Effect, EffectJob } from './effect-job.ts'
import { PlanThread } from './plan-thread.ts'

/** What is beyond them goes without an effect, and is not judged by `guardrails.movedClients`. */
export const effectLimits = {
  /** Dry runs at once, the one under way among them. */
  waitingMax: 4,
  /** For one; docs/operations/plan.md and trust.md say so. */
  jobMs: 10_000,
} as const

/** undefined: it could not be planned in time. */
export type MovedFrom = (
  bundle: Uint8Array,
  next: Uint8Array,
) => Promise<readonly Moved[] | undefined>

/** What goes back to an earlier bundle is planned with the tables of today. */
export function earlierJob(
  { tables }: LiveNode,
  job: Pick<EffectJob, 'bundle' | 'next' | 'nowMs'>,
): EffectJob {
  return { kind: 'effect', digest: '', tables, ...job }
}

/** What moves too many, by the limits. */
export interface TooMany {
  readonly limits: MoveLimits
  readonly moved: readonly Moved[]
}

/**
 * The newest of those that answered before to which the names go back that move too many;
 * undefined: there is none. 'unknown': there is none among those that could be planned, and none
 * is begun after the time of one job.
 */
export async function goneBackTo(
  { bundle, earlier = [] }: Pick<WriteSuccess, 'bundle' | 'earlier'>,
  { limits, moved }: TooMany,
  movedFrom: MovedFrom,
  clock: Pick<Clock, 'monotonicMs'>,
): Promise<EarlierBundle | 'unknown' | undefined> {
  if (bundle === undefined) return undefined
  const untilMs = clock.monotonicMs() + effectLimits.jobMs
  let isKnown = true
  for (const one of earlier) {
    if (clock.monotonicMs() >= untilMs) return 'unknown'
    const since = await movedFrom(one.bundle, bundle)
    if (since === undefined) isKnown = false
    else if (movedBeyond(limits, notBack(moved, since)) === undefined) return one
  }
  return isKnown ? undefined : 'unknown'
}

export interface EffectParts {
  readonly writer: ConfigWriter
  /** What answers now; undefined: nothing. */
  readonly node: () => LiveNode | undefined
  readonly clock: Clock
  /** Default `effectLimits.jobMs`. */
  readonly jobMs?: number
}

/** A writer whose dry runs say what they would move. */
export class EffectWriter implements ConfigWriter {
  readonly #parts: EffectParts
  readonly #thread: PlanThread<Effect>

  constructor(parts: EffectParts) {
    this.#parts = parts
    this.#thread = new PlanThread({ ...effectLimits, jobMs: parts.jobMs ?? effectLimits.jobMs })
  }

  write: ConfigWriter['write'] = async (request) => {
    const { writer } = this.#parts
    // A caller that wants the bundle plans it itself.
    if (request.isDryRun !== true || request.wantsBundle === true)
      return await writer.write(request)
    const done = await writer.write({ ...request, wantsBundle: true })
    if (!done.ok) return done
    const { bundle, files: _files, ...told } = done.value
    if (bundle === undefined) return ok(told)
    const effect = await this.#effectOf(bundle)
    return ok(effect === undefined ? told : { ...told, effect: effect.text, moved: effect.moved })
  }

  movedFrom: MovedFrom = async (bundle, next) => {
    const { node, clock } = this.#parts
    const effect = await this.#thread.run(() => {
      const live = node()
      return live && earlierJob(live, { bundle, next, nowMs: clock.nowMs() })
    })
    return typeof effect === 'string' ? undefined : effect?.moved
  }

  async close(): Promise<void> {
    await this.#thread.close()
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
