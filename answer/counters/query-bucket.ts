// The token bucket that all answering threads share: the licence's limit of queries per second.
import { createMachineClock } from '#lib/clock.ts'

const Cell = {
  /** Tokens per second, also the capacity; 0: no limit. */
  Rate: 0,
  Tokens: 1,
  /** Time up to which tokens were added, in milliseconds; its low 32 bits. */
  FilledMs: 2,
} as const

export const queryBucketBytes = 12

/** Returned by `take` when there is no limit. */
export const noLimit = -1

/** Above this, the sum of two rates would overflow a cell. */
const rateMax = 1_000_000_000
const second = 1_000

/**
 * The first thread that takes tokens adds those accrued since the last time: a stalled thread does
 * not starve the others, and no thread waits for another.
 */
export class QueryBucket {
  readonly #cells: Int32Array
  readonly #nowMs: () => number

  /** @param nowMs monotonic time, the same in all threads */
  constructor(shared: SharedArrayBuffer, nowMs: () => number = createMachineClock()) {
    this.#cells = new Int32Array(shared)
    this.#nowMs = nowMs
  }

  /**
   * Fills the bucket for a new rate. For the main thread.
   *
   * @param rate tokens per second; 0: no limit
   */
  adopt(rate: number): void {
    const capacity = Math.min(Math.max(rate, 0), rateMax)
    const cells = this.#cells
    Atomics.store(cells, Cell.FilledMs, Math.floor(this.#nowMs()) | 0)
    Atomics.store(cells, Cell.Tokens, capacity)
    Atomics.store(cells, Cell.Rate, capacity)
  }

  /** @returns how many of `wanted` queries may be answered, or `noLimit` */
  take(wanted: number): number {
    const cells = this.#cells
    const rate = Atomics.load(cells, Cell.Rate)
    if (rate === 0) return noLimit
    this.#fill(rate)
    for (;;) {
      const tokens = Atomics.load(cells, Cell.Tokens)
      const granted = Math.min(wanted, tokens)
      const rest = tokens - granted
      if (Atomics.compareExchange(cells, Cell.Tokens, tokens, rest) === tokens) return granted
    }
  }

  /** Returns tokens taken for packets that were not queries. */
  giveBack(tokens: number): void {
    if (tokens > 0) this.#add(tokens, Atomics.load(this.#cells, Cell.Rate))
  }

  #fill(rate: number): void {
    const cells = this.#cells
    const nowMs = Math.floor(this.#nowMs())
    const filledMs = Atomics.load(cells, Cell.FilledMs)
    const elapsedMs = ((nowMs | 0) - filledMs) | 0
    // Negative: another thread read the clock later but updated the cell first.
    if (elapsedMs <= 0 && elapsedMs > -second) return
    // The difference of whole tokens up to now and up to then loses no fraction.
    const accrued =
      elapsedMs >= 0 && elapsedMs < second
        ? Math.floor((nowMs * rate) / second) - Math.floor(((nowMs - elapsedMs) * rate) / second)
        : rate
    if (accrued === 0) return
    const seen = Atomics.compareExchange(cells, Cell.FilledMs, filledMs, nowMs | 0)
    if (seen === filledMs) this.#add(accrued, rate)
  }

  /** Adds tokens up to `rate`; a surplus from a higher rate set meanwhile is kept. */
  #add(count: number, rate: number): void {
    const cells = this.#cells
    for (;;) {
      const tokens = Atomics.load(cells, Cell.Tokens)
      if (tokens >= rate) return
      const sum = Math.min(tokens + count, rate)
      if (Atomics.compareExchange(cells, Cell.Tokens, tokens, sum) === tokens) return
    }
  }
}
