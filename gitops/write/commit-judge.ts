// Judges by moved clients a commit that is not pushed yet, and tells what a commit does to answers.
import type { Moved } from '#compiler/lower/name-outline.ts'
import { failed } from '#config/fault.ts'
import type { ConfigSnapshot } from '#config/object-index.ts'
import type { NeedsPlan, WriteFailure, WriteRequest } from '#config/operation.ts'
import type { ConfigSource } from '#gitops/source/config-source.ts'
import type { CompilePort } from '#gitops/sync/compile-port.ts'
import type { Publisher } from '#gitops/sync/publisher.ts'
import type { CommitBundle, CommitEffect, CommitEffects } from '#judge/effects/commit-effect.ts'
import { limitsMoves, movedBeyond, movedSentence, notBack } from '#judge/guard/moved-limit.ts'
import type { MovedBreach, MoveLimits } from '#judge/guard/moved-limit.ts'
import type { AcceptedConfig } from './accepted.ts'
import { earlierBundles } from './earlier-bundles.ts'
import type { Prepared } from './prepare.ts'
import type { Done } from './select.ts'

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

export interface CommitJudgeParts {
  readonly source: Pick<ConfigSource, 'driver'>
  readonly compiler: CompilePort
  readonly publisher: Publisher
  readonly accepted: AcceptedConfig
  /** Made for the first write that needs the effect of its commit; left out: no write does. */
  readonly effects?: () => Promise<CommitEffects>
}

export class CommitJudge {
  readonly #parts: CommitJudgeParts
  readonly #noteFault: (thrown: unknown) => void

  /** @param noteFault called with the error of a bug: the judgement is lost, the write is not */
  constructor(parts: CommitJudgeParts, noteFault: (thrown: unknown) => void) {
    this.#parts = parts
    this.#noteFault = noteFault
  }

  /**
   * Judges requests together first: within the limit, none needs a judgement of its own. The
   * compiler may have compiled another commit meanwhile; then the commit is prepared again.
   */
  async judge(done: readonly Done[], prepared: Prepared | null): Promise<MovedVerdict> {
    const { accepted, publisher, effects } = this.#parts
    const requests = done.map(({ pending }) => pending.request)
    const limits = moveLimitsFor(requests, accepted.index)
    if (prepared === null || limits === undefined || effects === undefined) return { kind: 'fine' }
    const [before, after] = [publisher.newest, publisher.sign(prepared.commit, prepared.compiled)]
    const effect = await this.#tried((all) => all.between(before, after))
    const isAlone = requests.length === 1
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
    const commit = await this.#tried((all) => this.#goneBackTo(all, beyond, prepared, after))
    if (commit !== undefined) return { kind: 'back', commit, effect }
    return { kind: 'refused', failure: movedTooMany(breach) }
  }

  async #tried<T>(work: (effects: CommitEffects) => T | Promise<T>): Promise<T | undefined> {
    try {
      const effects = await this.#parts.effects?.()
      return effects && (await work(effects))
    } catch (thrown) {
      this.#noteFault(thrown)
      return undefined
    }
  }

  /**
   * The commit that these names go back to; undefined: there is none, or the search takes too long.
   */
  async #goneBackTo(
    effects: CommitEffects,
    beyond: readonly Moved[],
    { changes }: Prepared,
    after: CommitBundle,
  ): Promise<string | undefined> {
    const { source, publisher, compiler, accepted } = this.#parts
    const parts = { driver: source.driver, compiler, accepted, earlier: publisher.earlier }
    const names = new Set(beyond.map(({ name }) => name))
    for await (const { commit, ...before } of earlierBundles(parts, changes.keys())) {
      const since = effects.movedOf(names, before, after)
      if (typeof since !== 'string' && notBack(beyond, since).length === 0) return commit
    }
    return undefined
  }
}

const unlimited: MoveLimits = {}

/**
 * The limits for these requests; undefined: none is judged by moved clients or asks for the effect.
 */
function moveLimitsFor(requests: readonly WriteRequest[], config: ConfigSnapshot): MoveLimits {
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
