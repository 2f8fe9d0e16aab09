// Decides when a thread gives memory back: once its work has been quiet for a moment.
import type { Clock } from '#lib/clock.ts'
import type { After } from '#lib/timer.ts'

export interface MemoryReleasesParts {
  readonly release: () => void
  readonly clock: Clock
  readonly after: After
}

/** From a change: all threads have it then, and nobody has what was before. */
export const quietMs = 2_000
/** It costs a tenth of a second of the thread: not with each of many changes. */
export const apartMs = 30_000

export class MemoryReleases {
  readonly #parts: MemoryReleasesParts
  #lastMs = -Infinity
  #callOff: (() => void) | undefined
  #isStopped = false

  constructor(parts: MemoryReleasesParts) {
    this.#parts = parts
  }

  /** Something was left behind. */
  changed(): void {
    if (this.#isStopped) return
    const { clock, after, release } = this.#parts
    this.#callOff?.()
    const nowMs = clock.monotonicMs()
    this.#callOff = after(Math.max(quietMs, this.#lastMs + apartMs - nowMs), () => {
      this.#callOff = undefined
      this.#lastMs = clock.monotonicMs()
      release()
    })
  }

  /** Stops for good: a timer would keep a process alive that has stopped. */
  stop(): void {
    this.#isStopped = true
    this.#callOff?.()
    this.#callOff = undefined
  }
}
