// Time moved by hand: a clock, and timers that fire in order.
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

  /** Advances time; due timers run in order. */
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

  /** Advances time without running timers, as if the thread were busy. */
  block(durationMs: number): void {
    this.#monotonicMs += durationMs
  }

  /** Lets time pass up to a wall time. */
  passTo(nowMs: number): void {
    this.pass(nowMs - this.clock.nowMs())
  }

  /** Sets the wall clock without affecting timers. */
  jump(byMs: number): void {
    this.#offsetMs += byMs
  }
}
