// Limits the octets that a part of the journal may write in a day.

const dayMs = 86_400_000

export class DayAllowance {
  readonly perDay: number
  readonly #nowMs: () => number
  #left: number
  #atMs: number

  /**
   * @param nowMs a clock that is never set
   * @param left of which so much is there now; below 0, it is to come first
   */
  constructor(perDay: number, nowMs: () => number, left = perDay) {
    this.perDay = perDay
    this.#nowMs = nowMs
    this.#left = left
    this.#atMs = nowMs()
  }

  /** Octets that are there now; below 0: more were written than there were. */
  get left(): number {
    this.#fill()
    return this.#left
  }

  /** @returns false: there is less, and nothing was taken */
  take(bytes: number): boolean {
    if (!this.has(bytes)) return false
    this.#left -= bytes
    return true
  }

  /** Counts what is written already. @returns false: it was more than was left, a debt for later */
  spend(bytes: number): boolean {
    const isThere = this.has(bytes)
    this.#left -= bytes
    return isThere
  }

  has(bytes: number): boolean {
    return this.left >= bytes
  }

  #fill(): void {
    const nowMs = this.#nowMs()
    const more = ((nowMs - this.#atMs) / dayMs) * this.perDay
    this.#left = Math.min(this.perDay, this.#left + more)
    this.#atMs = nowMs
  }
}
