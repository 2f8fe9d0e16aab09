// Rate-limits the reports of failed scripts.
import type { Clock } from '#lib/clock.ts'
import type { ScriptOutcome } from '#routing/script/contract.ts'

/** A script run that failed and changed nothing. */
export interface ScriptReport {
  /** Generation that the seat belongs to. */
  readonly generation: number
  readonly seat: number
  readonly outcome: ScriptOutcome
  /** The failure as a text for people. */
  readonly reason: string
}

/** Reports logged per minute: for one service, and for all. */
export const reportLimits = { perMinute: 6, inAllPerMinute: 120 } as const

const minuteMs = 60_000

export class ReportLimit {
  readonly #clock: Clock
  readonly #counts = new Map<string | number, number>()
  #sinceMs = -Infinity
  #total = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Asked before each report. @param key a service or a seat */
  allows(key: string | number): boolean {
    const nowMs = this.#clock.monotonicMs()
    if (nowMs - this.#sinceMs >= minuteMs) {
      this.#sinceMs = nowMs
      this.#total = 0
      this.#counts.clear()
    }
    const count = this.#counts.get(key) ?? 0
    if (count >= reportLimits.perMinute || this.#total >= reportLimits.inAllPerMinute) return false
    this.#counts.set(key, count + 1)
    this.#total++
    return true
  }
}
