// Limits how often callers can make the node look at its branch: once a second for all of them
// together.
import type { Clock } from '#lib/clock.ts'
import type { After } from '#lib/timer.ts'

interface AskedLooksParts {
  readonly look: () => void
  readonly clock: Clock
  readonly after: After
}

const everyMs = 1_000

export class AskedLooks {
  readonly #parts: AskedLooksParts
  #lastMs = -Infinity
  #callOff: (() => void) | undefined

  constructor(parts: AskedLooksParts) {
    this.#parts = parts
  }

  /**
   * Looks now, or a second after the last look, for all who ask until then.
   *
   * @returns time of the request, milliseconds since the epoch: the look begins no earlier
   */
  ask(): number {
    const { clock, after } = this.#parts
    const askedAtMs = Math.floor(clock.nowMs())
    const waitMs = this.#lastMs + everyMs - clock.monotonicMs()
    if (waitMs <= 0) this.#look()
    else this.#callOff ??= after(waitMs, () => this.#look())
    return askedAtMs
  }

  close(): void {
    this.#callOff?.()
    this.#callOff = undefined
  }

  #look(): void {
    this.close()
    this.#lastMs = this.#parts.clock.monotonicMs()
    this.#parts.look()
  }
}
