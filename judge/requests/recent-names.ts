// Remembers which names the API has taken away in the last minutes, so that many small removals
// count as the large one that they are.
import { perMeasure } from '#compiler/lower/name-standing.ts'
import type { PerMeasure, Standing } from '#compiler/lower/name-standing.ts'
import type { Clock } from '#lib/clock.ts'
import { lossesOf } from '#judge/guard/removal.ts'
import type { LostName } from '#judge/guard/removal.ts'
import { judgeLimits } from '#judge/limits.ts'
import { surplusOf } from './name-ledger.ts'
import type { Change, NameChanges } from './name-ledger.ts'

export interface Loss {
  readonly names: readonly LostName[]
  /** How many names more there were before than there are now; may be negative. */
  readonly surplus: number
}

export function lossOf(changes: NameChanges): PerMeasure<Loss> {
  const lost = lossesOf(Array.from(changes, ([name, { before, now }]) => [name, before, now]))
  return perMeasure((measure) => {
    let surplus = 0
    for (const { before, now } of changes.values()) surplus += surplusOf(measure, before, now)
    return { names: lost[measure], surplus }
  })
}

/** As large as what was changed within the time, and no name twice. */
export class RecentNames {
  readonly #clock: Clock
  /** By name: as it was before the first change of the time, and as it is. */
  #changes = new Map<string, Change & { readonly sinceMs: number }>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** For requests that may yet fail. */
  fork(): RecentNames {
    const copy = new RecentNames(this.#clock)
    copy.#changes = new Map(this.#changes)
    return copy
  }

  /** A change by the API. */
  record(changes: NameChanges): void {
    const nowMs = this.#clock.monotonicMs()
    this.#expire(nowMs)
    for (const [name, { before, now }] of changes) {
      const known = this.#changes.get(name)
      if (known?.before === now) this.#changes.delete(name)
      else this.#changes.set(name, { sinceMs: nowMs, before, ...known, now })
    }
  }

  /** A change that was judged elsewhere: what it touches starts anew. */
  settle(changes: NameChanges): void {
    for (const name of changes.keys()) this.#changes.delete(name)
  }

  /** Somebody vouches for all of it. */
  forget(): void {
    this.#changes.clear()
  }

  /** At least as many names as were changed within the time. */
  get size(): number {
    return this.#changes.size
  }

  /** As a name was before the first change of the time; undefined: it was not changed. */
  beforeOf(name: string): Standing | undefined {
    return this.#changes.get(name)?.before
  }

  /** What would be lost with `changes`, compared with what there was. */
  lossWith(changes: NameChanges): PerMeasure<Loss> {
    return lossOf(this.changesWith(changes))
  }

  /** With `changes`, each name since before its first change. */
  changesWith(changes: NameChanges): NameChanges {
    this.#expire(this.#clock.monotonicMs())
    const all = new Map<string, Change>(this.#changes)
    for (const [name, { before, now }] of changes) {
      all.set(name, { before: all.get(name)?.before ?? before, now })
    }
    return all
  }

  #expire(nowMs: number): void {
    for (const [name, { sinceMs }] of this.#changes) {
      // In the order in which they began: the rest is younger.
      if (nowMs - sinceMs < judgeLimits.removalWindowMs) return
      this.#changes.delete(name)
    }
  }
}
