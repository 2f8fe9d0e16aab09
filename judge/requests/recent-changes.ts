// Remembers which names and pools the API altered in the last ten minutes, so that many small
// changes count as the large one that they are.
import type { Facts } from '#compiler/lower/name-outline.ts'
import type { Clock } from '#lib/clock.ts'
import { judgeLimits } from '#judge/limits.ts'
import { joinedName, joinedPool, settledName, takesAnew } from './touched.ts'
import type { Pair, Touched, TouchedPool } from './touched.ts'
import type { NameFacts } from '#compiler/lower/name-outline.ts'

interface Since<T> extends Pair<T> {
  readonly sinceMs: number
}

interface Rules<T> {
  /** Joins two changes; undefined: the second undoes the first. */
  readonly join: (known: Pair<T>, own: Pair<T>) => Pair<T> | undefined
  /** Whether the time of the joined change begins with the second one. */
  readonly beginsAnew: (known: Pair<T>, own: Pair<T>) => boolean
  /** Returns the rest of a change after another one that was judged elsewhere; undefined: none. */
  readonly settle: (known: Pair<T>, own: Pair<T>) => Pair<T> | undefined
}

const ofNames: Rules<NameFacts> = { join: joinedName, beginsAnew: takesAnew, settle: settledName }
const ofPools: Rules<TouchedPool> = {
  join: joinedPool,
  beginsAnew: () => false,
  settle: () => undefined,
}

/** Changes within the time. Its size is that of what was changed, each name and pool once. */
export class RecentChanges {
  readonly names: Recent<NameFacts>
  readonly pools: Recent<TouchedPool>
  readonly #clock: Clock

  constructor(clock: Clock, base?: RecentChanges) {
    this.#clock = clock
    this.names = new Recent(clock, ofNames, base?.names)
    this.pools = new Recent(clock, ofPools, base?.pools)
  }

  /** A copy for requests that may fail. The original must not change meanwhile. */
  fork(): RecentChanges {
    return new RecentChanges(this.#clock, this)
  }

  /** Adds a change by the API. */
  record({ names, pools }: Touched): void {
    this.names.record(names)
    this.pools.record(pools)
  }

  /** Adds a change that was judged elsewhere: what it touches starts anew. Not for a copy. */
  settle({ names, pools }: Touched): void {
    this.names.settle(names)
    this.pools.settle(pools)
  }

  /** Drops all changes, since a person vouches for them. */
  forget(): void {
    this.names.forget()
    this.pools.forget()
  }
}

class Recent<T> {
  readonly #clock: Clock
  readonly #rules: Rules<T>
  #base: Recent<T> | undefined
  /** null: the object is back as it was. */
  readonly #known = new Map<string, Since<T> | null>()

  constructor(clock: Clock, rules: Rules<T>, base?: Recent<T>) {
    this.#clock = clock
    this.#rules = rules
    this.#base = base
  }

  /** Adds the changes of a request: each object since its first change within the time. */
  with(own: Facts<Pair<T>>): Facts<Pair<T>> {
    const joined = (name: string, pair: Pair<T>): Pair<T> => {
      const known = this.#get(name)
      return known === undefined
        ? pair
        : (this.#rules.join(known, pair) ?? { was: pair.now, now: pair.now })
    }
    const all = (): Iterable<readonly [string, Pair<T>]> => this.#all()
    return {
      // An upper bound.
      size: own.size + this.size,
      get: (name) => {
        const pair = own.get(name)
        return pair === undefined ? this.#get(name) : joined(name, pair)
      },
      *[Symbol.iterator]() {
        const seen = new Set<string>()
        for (const [name, known] of all()) {
          const pair = own.get(name)
          if (pair !== undefined) seen.add(name)
          yield [name, pair === undefined ? known : joined(name, pair)] as const
        }
        for (const each of own) if (!seen.has(each[0])) yield each
      },
    }
  }

  record(own: Facts<Pair<T>>): void {
    const nowMs = this.#clock.monotonicMs()
    this.#expire(nowMs)
    for (const [name, pair] of own) {
      const known = this.#get(name)
      const joined = known === undefined ? pair : this.#rules.join(known, pair)
      if (joined !== undefined) {
        const isFirst = known === undefined || this.#rules.beginsAnew(known, pair)
        // Kept in the order of their beginnings: a change that begins anew moves to the end.
        if (isFirst) this.#known.delete(name)
        this.#known.set(name, { ...joined, sinceMs: isFirst ? nowMs : known.sinceMs })
      } else if (this.#base === undefined) this.#known.delete(name)
      else this.#known.set(name, null)
    }
  }

  settle(own: Facts<Pair<T>>): void {
    for (const [name, pair] of own) {
      const known = this.#known.get(name)
      const left = known ? this.#rules.settle(known, pair) : undefined
      if (known && left !== undefined) this.#known.set(name, { ...left, sinceMs: known.sinceMs })
      else this.#known.delete(name)
    }
  }

  forget(): void {
    this.#base = undefined
    this.#known.clear()
  }

  /** An upper bound of the changes within the time. */
  get size(): number {
    return this.#known.size + (this.#base?.size ?? 0)
  }

  #get(name: string): Since<T> | undefined {
    const own = this.#known.get(name)
    if (own === null) return undefined
    if (own !== undefined) return this.#fresh(own)
    const base = this.#base
    return base && base.#get(name)
  }

  *#all(): Generator<readonly [string, Since<T>]> {
    for (const [name, own] of this.#known) {
      if (own !== null && this.#fresh(own) !== undefined) yield [name, own]
    }
    const base = this.#base
    if (base === undefined) return
    for (const each of base.#all()) if (!this.#known.has(each[0])) yield each
  }

  #fresh(one: Since<T>): Since<T> | undefined {
    const isOld = this.#clock.monotonicMs() - one.sinceMs >= judgeLimits.removalWindowMs
    return isOld ? undefined : one
  }

  #expire(nowMs: number): void {
    for (const [name, one] of this.#known) {
      // Entries are ordered by their beginnings, so the rest is younger.
      if (one !== null && nowMs - one.sinceMs < judgeLimits.removalWindowMs) break
      if (one !== null || this.#base === undefined) this.#known.delete(name)
    }
  }
}
