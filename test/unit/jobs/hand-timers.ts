// A clock and timers that move only when a test moves them.
import type { Timers } from '#jobs/runner.ts'
import type { Clock } from '#lib/clock.ts'

interface Timer {
  readonly dueMs: number
  readonly run: () => void
}

export class HandTimers implements Timers, Clock {
  readonly pending = new Set<Timer>()
  #nowMs = 1_000_000

  readonly nowMs = (): number => this.#nowMs
  readonly monotonicMs = (): number => this.#nowMs
  readonly after = (delayMs: number, run: () => void): Timer => {
    const timer = { dueMs: this.#nowMs + delayMs, run }
    this.pending.add(timer)
    return timer
  }
  readonly cancel = (timer: unknown): void => {
    this.pending.delete(timer as Timer)
  }

  /** Fires what is due, in order, and lets promises settle between. */
  async advance(ms: number): Promise<void> {
    const endMs = this.#nowMs + ms
    for (;;) {
      const [next] = [...this.pending].sort((a, b) => a.dueMs - b.dueMs)
      if (next === undefined || next.dueMs > endMs) break
      this.#nowMs = next.dueMs
      this.pending.delete(next)
      next.run()
      await settle()
    }
    this.#nowMs = endMs
  }
}

/** All promise callbacks that are ready run before the next turn of the event loop. */
export function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
