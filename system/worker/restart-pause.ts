// Exponential back-off between restarts of a thread or a process that ended by itself.
import { assert } from '#lib/assert.ts'
import { backoffMs } from '#lib/backoff.ts'
import type { Backoff } from '#lib/backoff.ts'
import { systemClock } from '#lib/clock.ts'
import type { Clock } from '#lib/clock.ts'

/** Doubled for each death in a row; the row is over after `stableMs` without one. */
interface Restarts extends Backoff {
  readonly stableMs: number
}

const ofThreads: Restarts = { firstMs: 10, mostMs: 5_000, stableMs: 60_000 }

export class RestartPause {
  readonly #restarts: Restarts
  readonly #clock: Pick<Clock, 'monotonicMs'>
  #deaths = 0
  #lastDeathMs = -Infinity

  constructor(restarts: Restarts = ofThreads, clock: Pick<Clock, 'monotonicMs'> = systemClock) {
    const { mostMs, stableMs } = restarts
    assert(mostMs < stableMs, 'the longest pause alone does not end a row of deaths')
    this.#restarts = restarts
    this.#clock = clock
  }

  /** Called at a death. @returns the pause before its successor starts */
  nextMs(): number {
    const nowMs = this.#clock.monotonicMs()
    if (nowMs - this.#lastDeathMs >= this.#restarts.stableMs) this.#deaths = 0
    this.#lastDeathMs = nowMs
    return backoffMs(this.#restarts, ++this.#deaths)
  }

  /** Ends the row of deaths. */
  reset(): void {
    this.#deaths = 0
  }
}
