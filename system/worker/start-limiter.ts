// Limits how many threads start at once.
import type { Worker } from 'node:worker_threads'

/** @returns when it has sent its first message, by which it is ready; or has ended before */
export function readyOrEnded(worker: Worker): Promise<void> {
  return new Promise((resolve) => {
    worker.once('message', () => resolve()).once('exit', () => resolve())
  })
}

/**
 * More starts than cores only keep each other waiting, and the main thread as well: hundreds at
 * once leave it no time for a signal to stop. Starts that still wait can be called off.
 */
export class StartLimiter {
  readonly #atOnce: number
  readonly #waiting: (() => Promise<void>)[] = []
  #underWay = 0
  #isOver = false

  constructor(atOnce: number) {
    this.#atOnce = atOnce
  }

  /**
   * @param start called when its turn comes, at once where there is room; the turn is over when
   *   what it returns has settled
   * @param onFailure hears of a start that threw or was rejected, such as for want of a thread
   */
  add(start: () => Promise<void>, onFailure: (error: unknown) => void): void {
    if (this.#isOver) return
    this.#waiting.push(async () => {
      try {
        await start()
      } catch (error) {
        onFailure(error)
      }
    })
    this.#next()
  }

  /** Drops the starts that wait, and all later ones. */
  callOff(): void {
    this.#isOver = true
    this.#waiting.length = 0
  }

  #next(): void {
    if (this.#underWay >= this.#atOnce) return
    const start = this.#waiting.shift()
    if (start === undefined) return
    this.#underWay++
    void start().finally(() => {
      this.#underWay--
      this.#next()
    })
  }
}
