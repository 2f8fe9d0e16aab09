// A thread that answers, seen from the main thread: ready at some time, ended at some other.
import type { Worker } from 'node:worker_threads'

/** A thread that is told to stop and does not end in this time is ended. */
const stopPatienceMs = 5_000

export class AnsweringThread {
  readonly worker: Worker
  /** It never serves a generation before this one: it was there before the thread. 0: none was. */
  readonly startedWith: number
  /** Resolves with its first message, by which it is ready; or when it ends before. */
  readonly ready: Promise<void>
  readonly #exited: Promise<void>

  constructor(worker: Worker, startedWith: number) {
    this.worker = worker
    this.startedWith = startedWith
    this.#exited = new Promise((resolve) => worker.once('exit', () => resolve()))
    const said = new Promise<void>((resolve) => worker.once('message', () => resolve()))
    this.ready = Promise.race([said, this.#exited])
  }

  /**
   * Resolves when the thread has ended, as it was told to; one that is ready is ended if it takes
   * too long. One that is not ready must not be: cut off while it loads native code, it takes the
   * process with it. It finds the order to stop as soon as it is ready.
   */
  async ended(): Promise<void> {
    await this.ready
    const patience = setTimeout(() => void this.worker.terminate(), stopPatienceMs)
    await this.#exited
    clearTimeout(patience)
  }
}
