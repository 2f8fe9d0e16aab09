// Runs work in rounds, one at a time: what is asked for during a round leads to one more.

export class Rounds {
  readonly #work: () => Promise<void>
  #isAsked = false
  #isUnderWay = false
  #isStopped = false
  #running: Promise<void> | undefined

  /** @param work must not throw; it may ask for another round at once */
  constructor(work: () => Promise<void>) {
    this.#work = work
  }

  get isUnderWay(): boolean {
    return this.#isUnderWay
  }

  get isStopped(): boolean {
    return this.#isStopped
  }

  /** Begins a round; or has one follow the round under way, which may have begun too early. */
  ask(): void {
    if (this.#isStopped) return
    this.#isAsked = true
    if (!this.#isUnderWay) this.#running = this.#run()
  }

  /** Resolves when no round is under way. */
  async settled(): Promise<void> {
    await this.#running
  }

  /** Begins no further round. Resolves when the one under way has ended. */
  async stop(): Promise<void> {
    this.#isStopped = true
    await this.#running
  }

  async #run(): Promise<void> {
    this.#isUnderWay = true
    while (this.#isAsked && !this.#isStopped) {
      this.#isAsked = false
      await this.#work()
    }
    // At once: what is asked for between here and a reaction to the promise would begin nothing.
    this.#isUnderWay = false
  }
}
