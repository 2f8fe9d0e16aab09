// A mutex: reconciliations and writes must not overlap.

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
}
