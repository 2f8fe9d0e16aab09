// Time that a test moves by hand: a clock, and timers that fire when it is their turn.
import type { Clock } from '#lib/clock.ts'
import type { After } from '#lib/timer.ts'

interface Timer {
  readonly atMs: number
  readonly fn: () => void
}

export class FakeTime {
  #monotonicMs = 0
  /** Wall time less monotonic time. */
  #offsetMs: number
  #timers: Timer[] = []
  readonly clock: Clock = {
    nowMs: () => this.#monotonicMs + this.#offsetMs,
    monotonicMs: () => this.#monotonicMs,
  }

  constructor(nowMs: number) {
    this.#offsetMs = nowMs
  }

  /** How many timers are set. */
  get waiting(): number {
    return this.#timers.length
  }

  readonly after: After = (delayMs, fn) => {
    const timer = { atMs: this.#monotonicMs + delayMs, fn }
    this.#timers.push(timer)
    return () => {
      this.#timers = this.#timers.filter((one) => one !== timer)
    }
  }

  /** Lets time pass; what is due runs in the order of time. */
  pass(durationMs: number): void {
    const endMs = this.#monotonicMs + durationMs
    for (;;) {
      const [next] = this.#timers.toSorted((a, b) => a.atMs - b.atMs)
      if (next === undefined || next.atMs > endMs) break
      this.#monotonicMs = Math.max(this.#monotonicMs, next.atMs)
      this.#timers = this.#timers.filter((one) => one !== next)
      next.fn()
    }
    this.#monotonicMs = endMs
  }

  /** Time passes while work holds the thread: no timer runs. */
  block(durationMs: number): void {
    this.#monotonicMs += durationMs
  }

  /** Lets time pass up to a wall time. */
  passTo(nowMs: number): void {
    this.pass(nowMs - this.clock.nowMs())
  }

  /** Somebody sets the wall clock; no timer notices. */
  jump(byMs: number): void {
    this.#offsetMs += byMs
  }
}
