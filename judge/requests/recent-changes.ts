// Remembers what the API has altered of names and pools in the last minutes, so that many small
// changes count as the large one that they are.
import type { Clock } from '#lib/clock.ts'
import { judgeLimits } from '#judge/limits.ts'
import type { Touched, TouchedName, TouchedPool } from './touched.ts'

interface Since {
  readonly sinceMs: number
}

/** As large as what was changed within the time, and no name or pool twice. */
export class RecentChanges {
  readonly #clock: Clock
  readonly #base: RecentChanges | undefined
  #isForgotten = false
  readonly #names = new Map<string, TouchedName & Since>()
  readonly #pools = new Map<string, TouchedPool & Since>()

  constructor(clock: Clock, base?: RecentChanges) {
    this.#clock = clock
    this.#base = base
  }

  /** For requests that may yet fail. The original must stay as it is meanwhile. */
  fork(): RecentChanges {
    return new RecentChanges(this.#clock, this)
  }

  /** At least as many as `names` has. */
  get namesCount(): number {
    return this.#names.size + (this.#below()?.namesCount ?? 0)
  }

  /** With what `more` alters, each since before the first change of the time. */
  *names(more: Touched): Generator<readonly [string, TouchedName]> {
    for (const [name, own] of more.names) yield [name, joinedName(this.#nameOf(name), own)]
    for (const each of this.#allNames()) if (!more.names.has(each[0])) yield each
  }

  *pools(more: Touched): Generator<readonly [string, TouchedPool]> {
    for (const [name, own] of more.pools) yield [name, joinedPool(this.#poolOf(name), own)]
    for (const each of this.#allPools()) if (!more.pools.has(each[0])) yield each
  }

  /** A change by the API. */
  record({ names, pools }: Touched): void {
    const nowMs = this.#clock.monotonicMs()
    this.#expire(nowMs)
    for (const [name, own] of names) {
      const known = this.#nameOf(name)
      this.#names.set(name, { ...joinedName(known, own), sinceMs: known?.sinceMs ?? nowMs })
    }
    for (const [name, own] of pools) {
      const known = this.#poolOf(name)
      this.#pools.set(name, { ...joinedPool(known, own), sinceMs: known?.sinceMs ?? nowMs })
    }
  }

  /** A change that was judged elsewhere: what it touches starts anew. Not of a fork. */
  settle({ names, pools }: Touched): void {
    for (const name of names.keys()) this.#names.delete(name)
    for (const name of pools.keys()) this.#pools.delete(name)
  }

  /** Somebody vouches for all of it. */
  forget(): void {
    this.#isForgotten = true
    this.#names.clear()
    this.#pools.clear()
  }

  get isEmpty(): boolean {
    return this.#names.size === 0 && this.#pools.size === 0 && (this.#below()?.isEmpty ?? true)
  }

  #below(): RecentChanges | undefined {
    return this.#isForgotten ? undefined : this.#base
  }

  #nameOf(name: string): (TouchedName & Since) | undefined {
    const below = this.#below()
    const known = this.#names.get(name) ?? (below && below.#nameOf(name))
    return fresh(known, this.#clock.monotonicMs())
  }

  #poolOf(name: string): (TouchedPool & Since) | undefined {
    const below = this.#below()
    const known = this.#pools.get(name) ?? (below && below.#poolOf(name))
    return fresh(known, this.#clock.monotonicMs())
  }

  *#allNames(): Generator<readonly [string, TouchedName]> {
    const nowMs = this.#clock.monotonicMs()
    for (const each of this.#names) if (fresh(each[1], nowMs)) yield each
    const below = this.#below()
    if (below === undefined) return
    for (const each of below.#allNames()) if (!this.#names.has(each[0])) yield each
  }

  *#allPools(): Generator<readonly [string, TouchedPool]> {
    const nowMs = this.#clock.monotonicMs()
    for (const each of this.#pools) if (fresh(each[1], nowMs)) yield each
    const below = this.#below()
    if (below === undefined) return
    for (const each of below.#allPools()) if (!this.#pools.has(each[0])) yield each
  }

  #expire(nowMs: number): void {
    for (const map of [this.#names, this.#pools] as const) {
      for (const [name, { sinceMs }] of map) {
        // In the order in which they began: the rest is younger.
        if (nowMs - sinceMs < judgeLimits.removalWindowMs) break
        map.delete(name)
      }
    }
  }
}

function fresh<T extends Since>(one: T | undefined, nowMs: number): T | undefined {
  const isOld = one !== undefined && nowMs - one.sinceMs >= judgeLimits.removalWindowMs
  return isOld ? undefined : one
}

function joinedName(known: TouchedName | undefined, own: TouchedName): TouchedName {
  if (known === undefined) return own
  // What is longer than all that was touched before was there from the start.
  const ttlBefore =
    own.ttlBefore > known.ttlNow ? Math.max(known.ttlBefore, own.ttlBefore) : known.ttlBefore
  return { ...own, shape: (known.shape + own.shape) | 0, ttlBefore }
}

function joinedPool(known: TouchedPool | undefined, own: TouchedPool): TouchedPool {
  return known === undefined ? own : { ...own, before: known.before }
}
