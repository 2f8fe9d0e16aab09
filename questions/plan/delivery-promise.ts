// Plans the change that is being delivered to nodes, once for each change.
import { sharedCopy } from '#lib/memory/copy-for-threads.ts'
import { readFileSync } from 'node:fs'
import type { DeliveryState } from '#fleet/delivery/state.ts'
import type { Clock } from '#lib/clock.ts'
import type { RoutingTables } from '#routing/choose/environment.ts'
import type { EffectJob } from './effect-job.ts'
import type { Effect } from './effect-job.ts'
import { PlanThread } from './plan-thread.ts'

interface PromiseParts {
  readonly bundlePath: (digest: string) => string
  /** The node's routing tables; undefined: there are none. */
  readonly tables: () => RoutingTables | undefined
  readonly clock: Clock
}

type Named = Pick<DeliveryState, 'good' | 'target'>

export class DeliveryPromise {
  readonly #parts: PromiseParts
  readonly #thread = new PlanThread<Effect>({ waitingMax: 4 })
  /** Digests of both bundles. */
  #key = ''
  #text = ''

  constructor(parts: PromiseParts) {
    this.#parts = parts
  }

  /** The plan in short; '': it is not known yet, or not possible. */
  of(state: Named | undefined): string {
    if (state === undefined || state.target === null) return ''
    const { good, target } = state
    const key = `${good.digest} ${target.digest}`
    // The bundle that passed all waves is the new good one.
    if (good.digest === target.digest) return this.#key.endsWith(target.digest) ? this.#text : ''
    if (key === this.#key) return this.#text
    this.#key = key
    this.#text = ''
    const running = this.#thread.run(() => this.#jobOf(good.digest, target.digest))
    void running.then((effect) => {
      if (this.#key === key && typeof effect !== 'string') this.#text = effect.text
    })
    return ''
  }

  async close(): Promise<void> {
    await this.#thread.close()
  }

  #jobOf(good: string, target: string): EffectJob | undefined {
    const { bundlePath, tables: tablesOf, clock } = this.#parts
    const tables = tablesOf()
    if (tables === undefined) return undefined
    try {
      // Another control node may have made one of the bundles, which is absent then.
      const bundle = sharedCopy(readFileSync(bundlePath(good)))
      const next = sharedCopy(readFileSync(bundlePath(target)))
      return { kind: 'effect', bundle, digest: '', tables, next, nowMs: clock.nowMs() }
    } catch {
      return undefined
    }
  }
}
