// Threads start a few at a time.

/**
 * More starts than cores only keep each other waiting, and the main thread as well: hundreds at
 * once leave it no time for a signal to stop. Those that still wait can be called off.
 */
export class StartTurns {
  readonly #atOnce: number
  readonly #waiting: (() => Promise<void>)[] = []
  #underWay = 0
  #isOver = false

  constructor(atOnce: number) {
    this.#atOnce = atOnce
  }

  /**
   * @param start called when its turn comes, at once where there is room; the turn is over when
   *   what it returns has resolved, which it always does
   */
  add(start: () => Promise<void>): void {
    if (this.#isOver) return
    this.#waiting.push(start)
    this.#next()
  }

  /** Those that wait never start, nor do later ones. */
  callOff(): void {
    this.#isOver = true
    this.#waiting.length = 0
  }

  #next(): void {
    if (this.#underWay >= this.#atOnce) return
    const start = this.#waiting.shift()
    if (start === undefined) return
    this.#underWay++
    void start().then(() => {
      this.#underWay--
      this.#next()
    })
  }
}
