// The main thread's handle on an answering thread: its worker, when it is ready, when it has ended.
import type { Worker } from 'node:worker_threads'
import { readyOrEnded } from './start-limiter.ts'

/** Time in which a thread must end after the order to stop. */
const stopPatienceMs = 5_000

export class AnsweringThread {
  readonly worker: Worker
  /**
   * Generation that served when the thread began; the thread never serves an earlier one. 0: none.
   */
  readonly startedWith: number
  readonly ready: Promise<void>
  readonly #exited: Promise<void>

  constructor(worker: Worker, startedWith: number) {
    this.worker = worker
    this.startedWith = startedWith
    this.#exited = new Promise((resolve) => worker.once('exit', () => resolve()))
    this.ready = readyOrEnded(worker)
  }

  /**
   * Resolves when the thread has ended after the order to stop. A thread that is ready is
   * terminated if it takes too long. A thread that is not ready must not be terminated: cut off
   * while it loads native code, it takes the process with it. It finds the order to stop as soon as
   * it is ready.
   */
  async ended(): Promise<void> {
    await this.ready
    const patience = setTimeout(() => void this.worker.terminate(), stopPatienceMs)
    await this.#exited
    clearTimeout(patience)
  }
}
