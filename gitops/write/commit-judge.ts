// Judges by moved clients a commit that is not pushed yet, and tells what a commit does to answers.
import type { Moved } from '#compiler/lower/name-outline.ts'
import type { ConfigSource } from '#gitops/source/config-source.ts'
import type { CompilePort } from '#gitops/sync/compile-port.ts'
import type { Publisher } from '#gitops/sync/publisher.ts'
import type { CommitBundle, CommitEffects } from '#judge/effects/commit-effect.ts'
import { notBack } from '#judge/guard/moved-limit.ts'
import type { AcceptedConfig } from './accepted.ts'
import { earlierBundles } from './earlier-bundles.ts'
import { judgeMoved, moveLimitsFor } from './moved-judge.ts'
import type { MovedVerdict } from './moved-judge.ts'
import type { Prepared } from './prepare.ts'
import type { Done } from './select.ts'

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

  /** The compiler may have compiled another commit meanwhile; then the commit is prepared again. */
  async judge(done: readonly Done[], prepared: Prepared | null): Promise<MovedVerdict> {
    const { accepted, publisher, effects } = this.#parts
    const requests = done.map(({ pending }) => pending.request)
    const limits = moveLimitsFor(requests, accepted.index)
    if (prepared === null || limits === undefined || effects === undefined) return { kind: 'fine' }
    const after = publisher.sign(prepared.commit, prepared.compiled)
    const before = publisher.newest
    const effect = () => this.#tried((effectsOf) => effectsOf.between(before, after))
    const goneBackTo = (beyond: readonly Moved[]) =>
      this.#tried((told) => this.#goneBackTo(told, beyond, prepared, after))
    return await judgeMoved({ requests, limits, effect, goneBackTo })
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
