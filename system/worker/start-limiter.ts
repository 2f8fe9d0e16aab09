// Limits how many threads start at once.
import type { Worker } from 'node:worker_threads'

/**
 * @returns a promise that resolves when the worker has sent its first message, by which it is
 * ready, or has ended
 */
export function readyOrEnded(worker: Worker): Promise<void> {
  return new Promise((resolve) => {
    worker.once('message', () => resolve()).once('exit', () => resolve())
  })
}

/**
 * Limits concurrent thread starts. More starts than cores only delay each other and the main
 * thread: with hundreds at once it has no time for a signal to stop. Waiting starts can be called
 * off.
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
   * @param start called when its turn comes, at once where there is room; the turn ends when the
   * returned promise settles
   * @param onFailure called when a start throws or rejects, such as when the system gives no thread
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

  /** Drops the waiting starts and all later ones. */
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
