// The 99th percentile of recent answer times, from counters that only rise.
import type { Clock } from '#lib/clock.ts'
import type { CounterSnapshot } from './counters.ts'

export const latencyWindow = {
  /** The window; answers from before a change should soon not count any more. */
  spanMs: 30_000,
  /** Interval between kept snapshots. */
  stepMs: 5_000,
} as const

interface Taken {
  readonly atMs: number
  /** Timed queries by class of time. */
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
   * Call it every few seconds.
   *
   * @returns microseconds: the upper bound of a class of times; null: nothing was timed
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
    // Queries beyond the last class are reported as twice its lower bound.
    const bound = uptoMs[row] ?? Infinity
    const slowest = (uptoMs.at(-2) ?? 0) * 2
    return Math.round((Number.isFinite(bound) ? bound : slowest) * 1_000)
  }

  /**
   * @returns the newest snapshot that is as old as the window; undefined: the process is younger
   */
  #keep(now: Taken): Taken | undefined {
    const { spanMs, stepMs } = latencyWindow
    const last = this.#taken.at(-1)
    if (last === undefined || now.atMs - last.atMs >= stepMs) this.#taken = [...this.#taken, now]
    const from = this.#taken.findLastIndex(({ atMs }) => now.atMs - atMs >= spanMs)
    if (from > 0) this.#taken = this.#taken.slice(from)
    return from < 0 ? undefined : this.#taken[0]
  }
}
