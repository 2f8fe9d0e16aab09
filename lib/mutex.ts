// A mutex: runs work one after the other.

export class Mutex {
  #last: Promise<void> = Promise.resolve()

  /** Runs `work` when all that came before has ended, well or badly. */
  take<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(work)
    this.#last = turn.then(
      () => undefined,
      () => undefined,
    )
    return turn
  }

  /** Resolves when all that was taken so far has ended. */
  idle(): Promise<void> {
    return this.#last
  }
}
