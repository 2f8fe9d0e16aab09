// Decides whether this node is to announce its addresses: what holds now, how often in a row, and
// how long ago it was taken back.
import type { Clock } from '#lib/clock.ts'

/** Why addresses are not announced. */
export type WithdrawalReason = 'starting' | 'no-bundle' | 'bundle-old' | 'silent' | 'draining'

/** What one look at the node has found. */
export type Finding = 'fit' | 'no-bundle' | 'bundle-old' | 'silent'

export interface AnnouncerSettings {
  /** So many good looks in a row before the addresses are announced. */
  readonly rise: number
  /** So many looks without an answer in a row before they are withdrawn. */
  readonly fall: number
  /** From a withdrawal to the next announcement, at least; doubled while it flaps. */
  readonly holdDownMs: number
}

/** An announcement that lasts so many hold-downs makes up for withdrawals before. */
const calmHoldDowns = 10
/** Doubled no more often than this. */
const doublingsMax = 5

/** `as-before`: a process that this one replaces has decided; nothing was seen yet. */
export type Wanted = 'announced' | 'withdrawn' | 'as-before'

export class Announcer {
  readonly #settings: AnnouncerSettings
  readonly #clock: Clock
  #wanted: Wanted
  #reason: WithdrawalReason = 'starting'
  #sinceMs: number
  /** Monotonic. */
  #changedAtMs: number
  #good = 0
  #silent = 0
  #flaps = 0
  /** Monotonic; no announcement before. */
  #heldUntilMs = 0

  /** @param takesOver the routes stay as they are until this node is seen to be fit or not */
  constructor(settings: AnnouncerSettings, clock: Clock, takesOver: boolean) {
    this.#settings = settings
    this.#clock = clock
    this.#wanted = takesOver ? 'as-before' : 'withdrawn'
    this.#sinceMs = clock.nowMs()
    this.#changedAtMs = clock.monotonicMs()
  }

  get wanted(): Wanted {
    return this.#wanted
  }

  /** null: they are announced. */
  get reason(): WithdrawalReason | null {
    return this.#wanted === 'announced' ? null : this.#reason
  }

  /** Unix time of the last decision. */
  get sinceMs(): number {
    return this.#sinceMs
  }

  /** Until it may announce again; 0: no hold-down is on. */
  get holdDownLeftMs(): number {
    return Math.max(0, this.#heldUntilMs - this.#clock.monotonicMs())
  }

  /** Looks without an answer since the last one with. */
  get silentLooks(): number {
    return this.#silent
  }

  /** One look; a lack of a bundle counts at once, silence only when it lasts. */
  see(finding: Finding): Wanted {
    if (this.#reason === 'draining' && this.#wanted === 'withdrawn') return this.#wanted
    if (finding === 'fit') this.#seeFit()
    else this.#seeUnfit(finding)
    return this.#wanted
  }

  /** For good. */
  drain(): void {
    this.#withdraw('draining')
    this.#reason = 'draining'
  }

  #seeFit(): void {
    this.#silent = 0
    this.#good++
    if (this.#wanted === 'announced') {
      if (this.#lastedMs() >= calmHoldDowns * this.#settings.holdDownMs) this.#flaps = 0
    } else if (this.#good >= this.#settings.rise && this.holdDownLeftMs === 0) {
      this.#change('announced')
    }
  }

  #seeUnfit(finding: Exclude<Finding, 'fit'>): void {
    this.#good = 0
    if (finding === 'silent') {
      this.#silent++
      if (this.#silent < this.#settings.fall) return
    }
    this.#withdraw(finding)
  }

  #withdraw(reason: WithdrawalReason): void {
    if (this.#wanted === 'withdrawn') {
      // Why it stays so is of more use than why it began.
      if (this.#reason !== 'draining') this.#reason = reason
      return
    }
    const { holdDownMs } = this.#settings
    const pauseMs = holdDownMs * 2 ** Math.min(this.#flaps, doublingsMax)
    this.#heldUntilMs = this.#clock.monotonicMs() + pauseMs
    this.#flaps++
    this.#reason = reason
    this.#change('withdrawn')
  }

  #change(to: 'announced' | 'withdrawn'): void {
    this.#wanted = to
    this.#sinceMs = this.#clock.nowMs()
    this.#changedAtMs = this.#clock.monotonicMs()
  }

  #lastedMs(): number {
    return this.#clock.monotonicMs() - this.#changedAtMs
  }
}
