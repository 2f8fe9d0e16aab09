// Judges requests by `guardrails.movedClients`, from the bundles before and after their commit.
import type { Moved } from '#compiler/lower/name-outline.ts'
import { failed } from '#config/fault.ts'
import type { ConfigSnapshot } from '#config/object-index.ts'
import type { NeedsPlan, WriteFailure, WriteRequest } from '#config/operation.ts'
import type { CommitEffect } from '#judge/effects/commit-effect.ts'
import { limitsMoves, movedBeyond, movedSentence } from '#judge/guard/moved-limit.ts'
import type { MovedBreach, MoveLimits } from '#judge/guard/moved-limit.ts'

/** `mixed`: some requests may be refused, so smaller groups are judged, down to single requests. */
export type MovedVerdict =
  | {
      readonly kind: 'fine'
      readonly effect?: CommitEffect | undefined
      /** The commit that the request goes back to; without it, the request would be refused. */
      readonly backTo?: string
    }
  | { readonly kind: 'mixed' }
  | { readonly kind: 'refused'; readonly failure: WriteFailure | NeedsPlan }
  | { readonly kind: 'back'; readonly commit: string; readonly effect: CommitEffect | undefined }

interface MovedQuestion {
  readonly requests: readonly WriteRequest[]
  readonly limits: MoveLimits
  /** Compares with the accepted commit; undefined: that failed. */
  readonly effect: () => Promise<CommitEffect | undefined>
  /** The commit that these names go back to; undefined: there is none, or that failed. */
  readonly goneBackTo: (beyond: readonly Moved[]) => Promise<string | undefined>
}

const unlimited: MoveLimits = {}

/**
 * The limits for these requests; undefined: none is judged by moved clients or asks for the effect.
 */
export function moveLimitsFor(
  requests: readonly WriteRequest[],
  config: ConfigSnapshot,
): MoveLimits {
  const [settings] = config.list('Settings')
  const limits = settings?.object.spec.guardrails
  if (limitsMoves(limits) && requests.some(isJudged)) return limits
  return requests.some(asksForEffect) ? unlimited : undefined
}

const isJudged = ({ judgement, override }: WriteRequest): boolean =>
  judgement?.by !== 'nobody' && override === undefined

/** A dry run takes its figures from a plan. */
const asksForEffect = ({ effectFor, judgement, isDryRun }: WriteRequest): boolean =>
  effectFor !== undefined && judgement === undefined && isDryRun !== true

/** Judges requests together first: within the limit, none needs a judgement of its own. */
export async function judgeMoved(question: MovedQuestion): Promise<MovedVerdict> {
  const { requests, limits } = question
  const isAlone = requests.length === 1
  const effect = await question.effect()
  const moved = movedOf(effect, isAlone ? requests[0]?.judgement : undefined)
  if (moved === undefined || typeof moved === 'string') {
    // The figure would be missing for fewer requests as well.
    const isNeverKnown = moved === undefined || moved === 'first' || moved === 'size'
    const isMeant = (one: WriteRequest): boolean =>
      asksForEffect(one) || (limits !== unlimited && isJudged(one))
    const isForAll = isAlone || (isNeverKnown && requests.every(isMeant))
    return isForAll ? { kind: 'refused', failure: needsPlan } : { kind: 'mixed' }
  }
  const breach = movedBeyond(limits, moved)
  if (breach === undefined) return { kind: 'fine', effect }
  if (!isAlone) return { kind: 'mixed' }
  const beyond = moved.filter((one) => movedBeyond(limits, [one]) !== undefined)
  const commit = await question.goneBackTo(beyond)
  if (commit !== undefined) return { kind: 'back', commit, effect }
  return { kind: 'refused', failure: movedTooMany(breach) }
}

/**
 * Clients moved by the effect; by a plan only where the effect does not tell: others may have
 * written since the plan.
 */
function movedOf(
  effect: CommitEffect | undefined,
  judgement: WriteRequest['judgement'],
): CommitEffect['moved'] | undefined {
  const moved = effect?.moved
  return judgement?.by === 'plan' && !Array.isArray(moved) ? judgement.moved : moved
}

const needsPlan: NeedsPlan = {
  ...failed('guarded', 'It takes a plan to find out which clients it moves.'),
  code: 'needs-plan',
}

function movedTooMany(breach: MovedBreach): WriteFailure {
  const what = movedSentence(breach, true)
  const message =
    `${what} POST /api/v1/plan says which. If that is meant, ` +
    'send it again with the header X-Gslb-Override: REASON; the reason is kept in the commit.'
  const guardrail = 'movedClients'
  const own = { tenant: breach.owner, message: what }
  return { ...failed('guarded', message), guardrail, own }
}
