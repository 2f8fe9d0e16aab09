// Token buckets per client address, for routes that need no credential.
import type { Clock } from '#lib/clock.ts'
import { networkOf } from '#access/auth/login-limits.ts'

interface BucketLimits {
  readonly perSecond: number
  readonly burst: number
  /** How many clients are remembered. */
  readonly sourcesMax: number
}

/** Interval at which a full table is searched for full buckets. */
const sweepMs = 1_000

/** Counts an IPv6 /64 as one client, since a host may use all its addresses. */
export class SourceBuckets {
  readonly #limits: BucketLimits
  readonly #clock: Clock
  /** When each bucket is full again, which is its whole state. */
  readonly #fullAtMs = new Map<string, number>()
  #sweptAtMs = -Infinity

  constructor(limits: BucketLimits, clock: Clock) {
    this.#limits = limits
    this.#clock = clock
  }

  /**
   * Takes a token.
   *
   * @returns 0, or the milliseconds until there is one
   */
  take(address: string): number {
    const { perSecond, burst, sourcesMax } = this.#limits
    const source = networkOf(address)
    const nowMs = this.#clock.monotonicMs()
    const known = this.#fullAtMs.get(source)
    if (known === undefined && this.#fullAtMs.size >= sourcesMax) {
      this.#sweep(nowMs)
      // Buckets that are not full are kept: dropping one would refill it.
      if (this.#fullAtMs.size >= sourcesMax) return sweepMs
    }
    const tokenMs = 1_000 / perSecond
    const fullAtMs = Math.max(known ?? nowMs, nowMs) + tokenMs
    const waitMs = fullAtMs - nowMs - burst * tokenMs
    if (waitMs > 0) return waitMs
    this.#fullAtMs.set(source, fullAtMs)
    return 0
  }

  #sweep(nowMs: number): void {
    if (nowMs - this.#sweptAtMs < sweepMs) return
    this.#sweptAtMs = nowMs
    for (const [source, fullAtMs] of this.#fullAtMs) {
      if (fullAtMs <= nowMs) this.#fullAtMs.delete(source)
    }
  }
}
