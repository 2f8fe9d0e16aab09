// Exponential back-off between restarts of a crashed thread.
import { backoffMs } from '#lib/backoff.ts'
import { systemClock } from '#lib/clock.ts'

/** Doubled for each death in a row; the row is over after `stableMs` without one. */
const restart = { firstMs: 10, mostMs: 5_000, stableMs: 60_000 } as const

export class RestartPause {
  #deaths = 0
  #lastDeathMs = -Infinity

  /** Called at a death. @returns the pause before its successor starts */
  nextMs(): number {
    const nowMs = systemClock.monotonicMs()
    if (nowMs - this.#lastDeathMs >= restart.stableMs) this.#deaths = 0
    this.#lastDeathMs = nowMs
    return backoffMs(restart, ++this.#deaths)
  }

  /** The row is over. */
  reset(): void {
    this.#deaths = 0
  }
}
