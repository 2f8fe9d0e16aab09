// Times one batch of queries in so many, from its receipt until its answers are sent; of the same
// batches queries may be copied.
import type { PacketSource } from '#system/sockets/packet-source.ts'
import type { Counters } from './counters.ts'

/** The clock costs as much as a tenth of an answer: it is read for few batches. A power of two. */
export const timedEvery = 64

/** Sees the queries of each batch that is timed. @returns which batches are, as a mask */
export interface BatchSampler {
  readonly take: (source: PacketSource, count: number) => number
}

/** For one responder; it allocates nothing. */
export class BatchTimer {
  readonly #counters: Pick<Counters, 'timed'>
  readonly #nowMs: () => number
  readonly #sampler: BatchSampler
  /** When the batch under way came; a cell, so that no number is boxed. */
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

  /** @param queries of the batch: each of them waited until the end of it */
  end(queries: number): void {
    if (this.#isTiming) this.#counters.timed(this.#nowMs() - this.#startedMs[0]!, queries)
  }
}

const noSampler: BatchSampler = { take: () => timedEvery - 1 }
