// Judges requests by `guardrails.movedClients`, from the bundles before and after their commit.
import { moveLimitsOf } from '#compiler/lower/name-outline.ts'
import type { Moved, MoveLimits } from '#compiler/lower/name-outline.ts'
import type { ConfigSnapshot } from '#config/object-index.ts'
import type { WriteFailure, WriteRequest } from '#config/operation.ts'
import type { CommitBundle, CommitEffect, CommitEffects } from '#judge/effects/commit-effect.ts'
import { movedBeyond, movedSentence, notBack } from '#judge/guard/moved-limit.ts'
import type { MovedBreach } from '#judge/guard/moved-limit.ts'
import type { EarlierBundle } from './earlier-bundles.ts'

/** `mixed`: some of them may be refused, and each is to be judged by fewer, down to itself. */
export type MovedVerdict =
  | { readonly kind: 'fine'; readonly effect?: CommitEffect | undefined }
  | { readonly kind: 'mixed' }
  | { readonly kind: 'refused'; readonly failure: WriteFailure }
  | { readonly kind: 'back'; readonly commit: string }

export interface MovedQuestion {
  readonly requests: readonly WriteRequest[]
  readonly limits: MoveLimits
  readonly after: CommitBundle
  readonly effects: CommitEffects
  /** From what was accepted last. */
  readonly effect: () => Promise<CommitEffect | undefined>
  /** What answered lately, newest first. */
  readonly earlier: () => Promise<readonly EarlierBundle[]>
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

const isJudged = ({ moved, override, backTo }: WriteRequest): boolean =>
  moved !== null && override === undefined && backTo === undefined

/** What moves nobody too far together does not alone, but where one takes back another. */
export async function judgeMoved(question: MovedQuestion): Promise<MovedVerdict> {
  const { requests, limits } = question
  const isAlone = requests.length === 1
  const known = isAlone ? requests[0]!.moved : undefined
  const effect = known ? undefined : await question.effect()
  const moved = known ?? effect?.moved
  if (moved === undefined || typeof moved === 'string') {
    // With fewer requests it would not be known, either.
    const isOfAny = moved === undefined || moved === 'first' || moved === 'size'
    const isOfAll = isAlone || (isOfAny && requests.every(isJudged))
    return isOfAll ? { kind: 'refused', failure: unjudged } : { kind: 'mixed' }
  }
  const breach = movedBeyond(limits, moved)
  if (breach === undefined) return { kind: 'fine', effect }
  if (!isAlone) return { kind: 'mixed' }
  const commit = await goneBackTo(question, moved)
  if (commit !== undefined) return { kind: 'back', commit }
  return { kind: 'refused', failure: movedTooMany(breach) }
}

/** undefined: the names that move too many are not back, or that takes too long to find out. */
async function goneBackTo(
  { limits, after, effects, earlier }: MovedQuestion,
  moved: readonly Moved[],
): Promise<string | undefined> {
  const beyond = moved.filter((one) => movedBeyond(limits, [one]) !== undefined)
  const names = new Set(beyond.map(({ name }) => name))
  for (const { commit, ...before } of await earlier()) {
    const since = effects.movedOf(names, before, after)
    if (typeof since !== 'string' && notBack(beyond, since).length === 0) return commit
  }
  return undefined
}

const unjudged: WriteFailure = {
  code: 'unjudged',
  message: 'Whom it moves takes a plan to find out. Try again.',
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
