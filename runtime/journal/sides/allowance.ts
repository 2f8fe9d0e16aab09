// Limits the octets that a part of the journal may write in a day.

const dayMs = 86_400_000

export class DayAllowance {
  readonly perDay: number
  readonly #nowMs: () => number
  #left: number
  #atMs: number

  /** @param nowMs a clock that is never set */
  constructor(perDay: number, nowMs: () => number) {
    this.perDay = perDay
    this.#nowMs = nowMs
    this.#left = perDay
    this.#atMs = nowMs()
  }

  /** @returns false: there is less, and nothing was taken */
  take(bytes: number): boolean {
    if (!this.has(bytes)) return false
    this.#left -= bytes
    return true
  }

  /** Of what is written already. @returns false: more than there was, which later ones pay */
  spend(bytes: number): boolean {
    const isThere = this.has(bytes)
    this.#left -= bytes
    return isThere
  }

  has(bytes: number): boolean {
    const nowMs = this.#nowMs()
    const more = ((nowMs - this.#atMs) / dayMs) * this.perDay
    this.#left = Math.min(this.perDay, this.#left + more)
    this.#atMs = nowMs
    return this.#left >= bytes
  }
}
