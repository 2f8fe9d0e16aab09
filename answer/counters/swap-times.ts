// Counts swaps of the serving bundle and their durations.

export class SwapTimes {
  #swaps = 0
  #secondsTotal = 0
  #secondsLast: number | null = null

  count(seconds: number): void {
    this.#swaps++
    this.#secondsTotal += seconds
    this.#secondsLast = seconds
  }

  status(): {
    readonly swaps: number
    readonly swapSecondsTotal: number
    readonly swapSecondsLast: number | null
  } {
    return {
      swaps: this.#swaps,
      swapSecondsTotal: this.#secondsTotal,
      swapSecondsLast: this.#secondsLast,
    }
  }
}
