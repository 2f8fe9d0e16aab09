// JIT warm-up: a thread adopts its first bundle repeatedly between queries, so that V8 has compiled
// the swap code before a swap matters.
import { systemClock } from '#lib/clock.ts'

/** V8 compiles in tiers, the first after eight runs; a hundred leave little to compile. */
const runs = 100
/** Total time: a bundle with thousands of policies must not keep queries waiting. */
const patienceMs = 50

export class JitWarmUp {
  readonly #takeOver: () => void
  readonly #onOver: () => void
  readonly #monotonicMs: () => number
  #left = runs
  #leftMs = patienceMs

  /**
   * @param takeOver can be called any number of times
   * @param onOver called once, at the end
   */
  constructor(takeOver: () => void, onOver: () => void, monotonicMs = systemClock.monotonicMs) {
    this.#takeOver = takeOver
    this.#onOver = onOver
    this.#monotonicMs = monotonicMs
  }

  get isOver(): boolean {
    return this.#left === 0
  }

  /** Runs some of the remaining rehearsals. */
  step(count: number): void {
    if (this.#left === 0) return
    const beganMs = this.#monotonicMs()
    for (let run = 0; run < count && this.#left > 0; run++) {
      this.#takeOver()
      this.#left--
      if (this.#monotonicMs() - beganMs >= this.#leftMs) this.#left = 0
    }
    this.#leftMs -= this.#monotonicMs() - beganMs
    if (this.#left === 0) this.#onOver()
  }
}
