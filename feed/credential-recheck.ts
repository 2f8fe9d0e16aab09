// Checks the credential of a feed connection periodically, and ends the connection when it no
// longer permits the feed.
import type { Clock } from '#lib/clock.ts'
import { maySee, visibleTenant } from '#access/caller.ts'
import type { Caller } from '#access/caller.ts'
import { mayFollow } from '#ports/feed-port.ts'
import type { AskCaller } from '#ports/feed-port.ts'
import { closeCodes, feedLimits } from './limits.ts'

interface End {
  readonly code: number
  readonly reason: string
}

const ended: End = { code: closeCodes.credentialEnded, reason: 'the credential has ended' }
const changed: End = {
  code: closeCodes.credentialEnded,
  reason: 'what the credential may see has changed',
}
const unchecked: End = {
  code: closeCodes.tryLater,
  reason: 'the credential cannot be checked; try again later',
}

/** Permission for the numbers of GET /dashboard/stats. */
const mayCount = (caller: Caller): boolean => maySee(caller, 'pool:read')

export class CredentialRecheck {
  readonly #tenant: string | null
  readonly #ask: AskCaller
  readonly #clock: Clock
  #askedAtMs: number
  #goodAtMs: number
  #isAsking = false
  #seesStats: boolean

  constructor(caller: Caller, ask: AskCaller, clock: Clock) {
    this.#tenant = visibleTenant(caller)
    this.#seesStats = mayCount(caller)
    this.#ask = ask
    this.#clock = clock
    this.#askedAtMs = this.#goodAtMs = clock.monotonicMs()
  }

  /** Whether the client gets these numbers. */
  get seesStats(): boolean {
    return this.#seesStats
  }

  /**
   * Checks when that is due.
   *
   * @returns why the feed ends; null: it goes on
   */
  async check(): Promise<End | null> {
    const nowMs = this.#clock.monotonicMs()
    if (this.#isAsking || nowMs - this.#askedAtMs < feedLimits.recheckMs) return this.#tooLong()
    this.#askedAtMs = nowMs
    this.#isAsking = true
    const found = await this.#ask().finally(() => (this.#isAsking = false))
    if (found === null) return ended
    if ('code' in found) return this.#tooLong()
    if (visibleTenant(found) !== this.#tenant || !mayFollow(found)) return changed
    this.#seesStats = mayCount(found)
    this.#goodAtMs = nowMs
    return null
  }

  /** A store that is away for a moment ends no feed. */
  #tooLong(): End | null {
    const uncheckedMs = this.#clock.monotonicMs() - this.#goodAtMs
    return uncheckedMs >= feedLimits.uncheckedMsMax ? unchecked : null
  }
}
