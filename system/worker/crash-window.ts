// Tells whether something has crashed too often within a time window.

interface CrashLimit {
  readonly max: number
  readonly windowMs: number
}

export class CrashWindow {
  readonly #limit: CrashLimit
  #timesMs: number[] = []

  constructor(limit: CrashLimit) {
    this.#limit = limit
  }

  /** Records a crash. @returns true: the window now contains as many as the limit */
  isTooMany(nowMs: number): boolean {
    this.#timesMs = [...this.#timesMs.filter((at) => nowMs - at < this.#limit.windowMs), nowMs]
    return this.#timesMs.length >= this.#limit.max
  }

  forget(): void {
    this.#timesMs = []
  }
}
