// A budget of work per thread that queries may draw on beyond their own to find a scope. After a
// change of candidates a query may need much; many of them in a row must not slow the others down.

/** One query may draw so much: a millisecond or two of work. */
export const drawMax = 65_536
/** The reserve of a thread that nobody has drawn on for a second: 20 to 30 ms of work. */
export const reserveMax = 16 * drawMax
/** How fast it is filled: two or three hundredths of a thread. */
export const filledPerMs = 1_000

/** One per thread. */
export class WorkReserve {
  readonly #nowMs: () => number
  #left = reserveMax
  #filledMs: number

  /** @param nowMs time that never goes back; it is asked when the reserve is low */
  constructor(nowMs: () => number) {
    this.#nowMs = nowMs
    this.#filledMs = nowMs()
  }

  /**
   * Takes `drawMax` units. All or nothing: shares that are too small to finish anything would be
   * spent in vain.
   *
   * @returns false: there are not as many
   */
  draw(): boolean {
    if (this.#left < drawMax) this.#fill()
    if (this.#left < drawMax) return false
    this.#left -= drawMax
    return true
  }

  /** @param units that were drawn and not used */
  giveBack(units: number): void {
    this.#left = Math.min(this.#left + units, reserveMax)
  }

  #fill(): void {
    const nowMs = Math.floor(this.#nowMs())
    const missing = reserveMax - this.#left
    this.#left += Math.min(missing, Math.max(0, nowMs - this.#filledMs) * filledPerMs)
    this.#filledMs = nowMs
  }
}
