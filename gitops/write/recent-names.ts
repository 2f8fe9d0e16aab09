// Remembers which names the API has taken away in the last minutes, so that many small removals
// count as the large one that they are.
import { outlineName, Presence, presenceOf } from '#compiler/plan/name-outline.ts'
import type { Clock } from '#lib/clock.ts'
import type { ConfigEntry } from '#config/entry.ts'
import type { LostName } from '#gitops/guard/removal.ts'
import { gitLimits } from '#gitops/limits.ts'

interface Change {
  readonly before: Presence
  readonly now: Presence
}

/** By name; none that is as it was. */
export type NameChanges = ReadonlyMap<string, Change>

export interface Loss {
  readonly names: readonly LostName[]
  /** How many names more there were before than there are now; may be negative. */
  readonly surplus: number
}

type Service = ConfigEntry<'Service'>

/** @param services each as it was and as it is; undefined: there is none */
export function nameChanges(
  services: Iterable<readonly [before: Service | undefined, now: Service | undefined]>,
): NameChanges {
  const changes = new Map<string, { before: Presence; now: Presence }>()
  const of = (name: string): { before: Presence; now: Presence } => {
    const known = changes.get(name)
    if (known !== undefined) return known
    const made = { before: Presence.Absent, now: Presence.Absent }
    changes.set(name, made)
    return made
  }
  for (const [before, now] of services) {
    const [old, next] = [domainOf(before), domainOf(now)]
    if (old !== undefined) of(old).before = presenceOf(before!.object.spec)
    if (next !== undefined) of(next).now = presenceOf(now!.object.spec)
  }
  for (const [name, { before, now }] of changes) if (before === now) changes.delete(name)
  return changes
}

export function lossOf(changes: NameChanges): Loss {
  const names: LostName[] = []
  let surplus = 0
  for (const [name, { before, now }] of changes) {
    if (now < before) names.push({ name, isLeft: now > Presence.Absent })
    surplus += Number(before > Presence.Absent) - Number(now > Presence.Absent)
  }
  return { names, surplus }
}

function domainOf(entry: Service | undefined): string | undefined {
  return entry && outlineName(entry.object.spec.domain)
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

  /** What would be lost with `changes`, compared with what there was. */
  lossWith(changes: NameChanges): Loss {
    this.#expire(this.#clock.monotonicMs())
    const all = new Map<string, Change>(this.#changes)
    for (const [name, { before, now }] of changes) {
      all.set(name, { before: all.get(name)?.before ?? before, now })
    }
    return lossOf(all)
  }

  #expire(nowMs: number): void {
    for (const [name, { sinceMs }] of this.#changes) {
      // In the order in which they began: the rest is younger.
      if (nowMs - sinceMs < gitLimits.removalWindowMs) return
      this.#changes.delete(name)
    }
  }
}
