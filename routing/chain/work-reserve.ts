// Holds a reserve of work for each thread, on which queries draw for a scope beyond their own
// effort. After a change of candidates a query may need much; many of them in a row must not slow
// the others down.

/** How much one query may draw: a millisecond or two of work. */
export const drawMax = 65_536
/** The full reserve of a thread, reached after a second without draws: 20 to 30 ms of work. */
export const reserveMax = 16 * drawMax
/** Rate at which the reserve fills: two or three percent of a thread. */
export const filledPerMs = 1_000

/** The reserve of one thread. */
export class WorkReserve {
  readonly #nowMs: () => number
  #left = reserveMax
  #filledMs: number

  /** @param nowMs monotonic time; read only when the reserve is low */
  constructor(nowMs: () => number) {
    this.#nowMs = nowMs
    this.#filledMs = nowMs()
  }

  /**
   * Takes `drawMax` units, all or nothing: a share that is too small to finish anything would be
   * wasted.
   *
   * @returns false when there are fewer
   */
  draw(): boolean {
    if (this.#left < drawMax) this.#fill()
    if (this.#left < drawMax) return false
    this.#left -= drawMax
    return true
  }

  /** @param units drawn but not used */
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
