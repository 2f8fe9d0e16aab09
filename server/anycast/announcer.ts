// Decides whether this node announces its addresses, by the result of each check, by how many in a
// row had it, and by how long ago the addresses were withdrawn.
import type { Clock } from '#lib/clock.ts'

/** Why addresses are not announced. */
export type WithdrawalReason = 'starting' | 'no-bundle' | 'bundle-old' | 'silent' | 'draining'

/** The result of one check of the node. */
export type Finding = 'fit' | 'no-bundle' | 'bundle-old' | 'silent'

export interface AnnouncerSettings {
  /** How many good checks in a row are needed before the addresses are announced. */
  readonly rise: number
  /** How many checks in a row may stay without an answer before the addresses are withdrawn. */
  readonly fall: number
  /** Least time from a withdrawal to the next announcement; doubled while the node flaps. */
  readonly holdDownMs: number
}

/** After an announcement that lasts so many hold-downs, earlier withdrawals no longer count. */
const calmHoldDowns = 10
/** The hold-down is doubled at most so many times. */
const doublingsMax = 5

/** `as-before`: the process that this one replaces has decided, and no check has run yet. */
type Wanted = 'announced' | 'withdrawn' | 'as-before'

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
  /** Monotonic; before this time nothing is announced. */
  #heldUntilMs = 0

  /** @param takesOver whether the routes stay as they are until a check has a result */
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

  /** Why the routes are withdrawn; null when they are announced. */
  get reason(): WithdrawalReason | null {
    return this.#wanted === 'announced' ? null : this.#reason
  }

  /** Unix time of the last decision. */
  get sinceMs(): number {
    return this.#sinceMs
  }

  /** Time until the node may announce again; 0: there is no hold-down. */
  get holdDownLeftMs(): number {
    return Math.max(0, this.#heldUntilMs - this.#clock.monotonicMs())
  }

  /** Count of checks without an answer since the last one that had an answer. */
  get silentLooks(): number {
    return this.#silent
  }

  /** Takes the result of one check. A missing bundle counts at once, silence only when it lasts. */
  see(finding: Finding): Wanted {
    if (this.#reason === 'draining' && this.#wanted === 'withdrawn') return this.#wanted
    if (finding === 'fit') this.#seeFit()
    else this.#seeUnfit(finding)
    return this.#wanted
  }

  /** Withdraws for good, because the process stops. */
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
      // The reason why the routes stay withdrawn is of more use than the first reason.
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
