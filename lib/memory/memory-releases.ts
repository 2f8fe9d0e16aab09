// Decides when a thread releases memory: when its work has been quiet for a moment.
import type { Clock } from '#lib/clock.ts'
import type { After } from '#lib/timer.ts'

interface MemoryReleasesParts {
  readonly release: () => void
  readonly clock: Clock
  readonly after: After
}

/** Time after a change until all threads have it, and nobody uses the state before. */
export const quietMs = 2_000
/** Shortest interval of releases, which take a tenth of a second of the thread. */
export const apartMs = 30_000

export class MemoryReleases {
  readonly #parts: MemoryReleasesParts
  #lastMs = -Infinity
  #callOff: (() => void) | undefined
  #isStopped = false

  constructor(parts: MemoryReleasesParts) {
    this.#parts = parts
  }

  /** To be called when work has left garbage. */
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

  /** Stops for good: a timer would keep a process alive. */
  stop(): void {
    this.#isStopped = true
    this.#callOff?.()
    this.#callOff = undefined
  }
}
