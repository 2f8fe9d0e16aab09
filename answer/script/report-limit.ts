// Rate-limits the reports of failed scripts.
import type { Clock } from '#lib/clock.ts'
import type { ScriptOutcome } from '#routing/script/contract.ts'

/** A run that changed nothing. */
export interface ScriptReport {
  /** The seat is one of this generation's. */
  readonly generation: number
  readonly seat: number
  readonly outcome: ScriptOutcome
  /** For people. */
  readonly reason: string
}

/** A service with a failing script is named so often in a minute; all services, so often. */
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

  /** Asked before each report about `key`, a service or a seat. */
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
