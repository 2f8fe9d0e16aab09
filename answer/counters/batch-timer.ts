// Times one batch of queries in 64, from its receipt until its answers are sent; a sampler may copy
// queries of the same batches.
import type { PacketSource } from '#system/sockets/packet-source.ts'
import type { Counters } from './counters.ts'

/**
 * Reading the clock costs as much as a tenth of an answer, so few batches are timed. A power of
 * two.
 */
export const timedEvery = 64

/** Sees the queries of each timed batch. @returns which batches to time, as a mask */
interface BatchSampler {
  readonly take: (source: PacketSource, count: number) => number
}

/** One for each responder; it allocates nothing. */
export class BatchTimer {
  readonly #counters: Pick<Counters, 'timed'>
  readonly #nowMs: () => number
  readonly #sampler: BatchSampler
  /** Start of the current batch; a typed array, so that no number is boxed. */
  readonly #startedMs = new Float64Array(1)
  #batches = 0
  #mask = timedEvery - 1
  #isTiming = false

  constructor(
    counters: Pick<Counters, 'timed'>,
    nowMs: () => number,
    sampler: BatchSampler = noSampler,
  ) {
    this.#counters = counters
    this.#nowMs = nowMs
    this.#sampler = sampler
  }

  begin(source: PacketSource, count: number): void {
    this.#isTiming = (this.#batches++ & this.#mask) === 0
    if (!this.#isTiming) return
    this.#mask = this.#sampler.take(source, count)
    this.#startedMs[0] = this.#nowMs()
  }

  /** @param queries of the batch: each waited until the end of the batch */
  end(queries: number): void {
    if (this.#isTiming) this.#counters.timed(this.#nowMs() - this.#startedMs[0]!, queries)
  }
}

const noSampler: BatchSampler = { take: () => timedEvery - 1 }
