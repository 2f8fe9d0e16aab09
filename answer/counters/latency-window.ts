// The time that 99 of 100 recent answers took, from counters that only rise.
import type { Clock } from '#lib/clock.ts'
import type { CounterSnapshot } from './counters.ts'

export const latencyWindow = {
  /** Older answers do not count: answers from before a change say nothing of after it. */
  spanMs: 30_000,
  /** Between two snapshots that are kept. */
  stepMs: 5_000,
} as const

interface Taken {
  readonly atMs: number
  /** Timed queries by class. */
  readonly counts: readonly number[]
}

type Times = Pick<CounterSnapshot, 'times'>

export class LatencyWindow {
  readonly #clock: Clock
  /** Oldest first. */
  #taken: readonly Taken[] = []

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /**
   * To be called every few seconds.
   *
   * @returns microseconds: the upper end of a class of times; null: nothing was timed
   */
  p99Us(threads: readonly Times[]): number | null {
    const uptoMs = threads[0]?.times.classes.map((one) => one.uptoMs) ?? []
    const counts = uptoMs.map((_, row) =>
      threads.reduce((sum, { times }) => sum + times.classes[row]!.count, 0),
    )
    const atMs = this.#clock.monotonicMs()
    const first = this.#keep({ atMs, counts })
    const recent = counts.map((count, row) => count - (first?.counts[row] ?? 0))
    const all = recent.reduce((sum, count) => sum + count, 0)
    if (all === 0) return null
    let below = 0
    const row = recent.findIndex((count) => (below += count) >= all * 0.99)
    // What is slower than the last class is said to be twice as slow.
    const bound = uptoMs[row] ?? Infinity
    const slowest = (uptoMs.at(-2) ?? 0) * 2
    return Math.round((Number.isFinite(bound) ? bound : slowest) * 1_000)
  }

  /** @returns the last one that is as old as the span; undefined: the process is younger */
  #keep(now: Taken): Taken | undefined {
    const { spanMs, stepMs } = latencyWindow
    const last = this.#taken.at(-1)
    if (last === undefined || now.atMs - last.atMs >= stepMs) this.#taken = [...this.#taken, now]
    const from = this.#taken.findLastIndex(({ atMs }) => now.atMs - atMs >= spanMs)
    if (from > 0) this.#taken = this.#taken.slice(from)
    return from < 0 ? undefined : this.#taken[0]
  }
}
