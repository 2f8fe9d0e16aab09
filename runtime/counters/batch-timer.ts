// Times one batch of queries in so many, from its receipt until its answers are sent.
import type { Counters } from './counters.ts'

/** The clock costs as much as a tenth of an answer: it is read for few batches. A power of two. */
export const timedEvery = 64

/** For one responder; it allocates nothing. */
export class BatchTimer {
  readonly #counters: Pick<Counters, 'timed'>
  readonly #nowMs: () => number
  /** When the batch under way came; a cell, so that no number is boxed. */
  readonly #startedMs = new Float64Array(1)
  #batches = 0
  #isTiming = false

  constructor(counters: Pick<Counters, 'timed'>, nowMs: () => number) {
    this.#counters = counters
    this.#nowMs = nowMs
  }

  begin(): void {
    this.#isTiming = (this.#batches++ & (timedEvery - 1)) === 0
    if (this.#isTiming) this.#startedMs[0] = this.#nowMs()
  }

  /** @param queries of the batch: each of them waited until the end of it */
  end(queries: number): void {
    if (this.#isTiming) this.#counters.timed(this.#nowMs() - this.#startedMs[0]!, queries)
  }
}
