// Judges requests by `guardrails.movedClients`, from the bundles before and after their commit.
import { moveLimitsOf } from '#compiler/lower/name-outline.ts'
import type { Moved, MoveLimits } from '#compiler/lower/name-outline.ts'
import type { ConfigSnapshot } from '#config/object-index.ts'
import type { WriteFailure, WriteRequest } from '#config/operation.ts'
import type { CommitEffect } from '#judge/effects/commit-effect.ts'
import { movedBeyond, movedSentence } from '#judge/guard/moved-limit.ts'
import type { MovedBreach } from '#judge/guard/moved-limit.ts'

/** `mixed`: some of them may be refused, and each is to be judged by fewer, down to itself. */
export type MovedVerdict =
  | {
      readonly kind: 'fine'
      readonly effect?: CommitEffect | undefined
      /** The commit that it goes back to: otherwise it would be refused. */
      readonly backTo?: string
    }
  | { readonly kind: 'mixed' }
  | { readonly kind: 'refused'; readonly failure: WriteFailure }
  | { readonly kind: 'back'; readonly commit: string }

export interface MovedQuestion {
  readonly requests: readonly WriteRequest[]
  readonly limits: MoveLimits
  /** From what was accepted last; undefined: it could not be told. */
  readonly effect: () => Promise<CommitEffect | undefined>
  /** The commit to which these names go back; undefined: to none, or it could not be told. */
  readonly goneBackTo: (beyond: readonly Moved[]) => Promise<string | undefined>
}

/** undefined: none of the requests is limited. */
export function moveLimitsFor(
  requests: readonly WriteRequest[],
  config: ConfigSnapshot,
): MoveLimits | undefined {
  if (!requests.some(isJudged)) return undefined
  const [settings] = config.list('Settings')
  const limits = moveLimitsOf(settings?.object.spec.guardrails)
  return limits.all === null && limits.tenants.size === 0 ? undefined : limits
}

const isJudged = ({ moved, override }: WriteRequest): boolean =>
  moved !== null && override === undefined

/** Requests that together stay within the limit are not judged one by one. */
export async function judgeMoved(question: MovedQuestion): Promise<MovedVerdict> {
  const { requests, limits } = question
  const isAlone = requests.length === 1
  const effect = await question.effect()
  const moved = movedOf(effect, isAlone ? requests[0]?.moved : undefined)
  if (moved === undefined || typeof moved === 'string') {
    // With fewer requests it would not be known, either.
    const isNeverTold = moved === undefined || moved === 'first' || moved === 'size'
    const isForAll = isAlone || (isNeverTold && requests.every(isJudged))
    return isForAll ? { kind: 'refused', failure: unjudged } : { kind: 'mixed' }
  }
  const breach = movedBeyond(limits, moved)
  if (breach === undefined) return { kind: 'fine', effect }
  if (!isAlone) return { kind: 'mixed' }
  const beyond = moved.filter((one) => movedBeyond(limits, [one]) !== undefined)
  const commit = await question.goneBackTo(beyond)
  if (commit !== undefined) return { kind: 'back', commit }
  return { kind: 'refused', failure: movedTooMany(breach) }
}

/** By a plan only where the effect does not say it: others may have written since the plan. */
function movedOf(
  effect: CommitEffect | undefined,
  planned: WriteRequest['moved'],
): CommitEffect['moved'] | undefined {
  const told = effect?.moved
  return Array.isArray(told) ? told : (planned ?? told)
}

const unjudged: WriteFailure = {
  code: 'unjudged',
  message: 'It takes a plan to find out which clients it moves.',
  operation: -1,
  diagnostics: [],
}

function movedTooMany(breach: MovedBreach): WriteFailure {
  const what = movedSentence(breach, true)
  const message =
    `${what} POST /api/v1/plan says which. If that is meant, ` +
    'send it again with the header X-Gslb-Override: REASON; the reason is kept in the commit.'
  const guardrail = 'movedClients'
  const own = { tenant: breach.owner, message: what }
  return { code: 'guarded', guardrail, message, own, operation: -1, diagnostics: [] }
}
