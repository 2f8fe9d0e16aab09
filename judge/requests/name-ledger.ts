// Keeps what stands at each name of the accepted configuration, so that a write is judged by what
// it touches, however large the rest is.
import { outlineName, presenceOf } from '#compiler/lower/name-outline.ts'
import {
  measures,
  perMeasure,
  Presence,
  presenceBy,
  withRecords,
  withService,
} from '#compiler/lower/name-standing.ts'
import type { Measure, PerMeasure, Standing } from '#compiler/lower/name-standing.ts'
import { readRecords } from '#compiler/values/record-sets.ts'
import type { ConfigEntry } from '#config/entry.ts'

export interface Change {
  readonly before: Standing
  readonly now: Standing
}

/** By name; none that is as it was. */
export type NameChanges = ReadonlyMap<string, Change>

export class NameLedger {
  readonly #base: NameLedger | undefined
  readonly #standings = new Map<string, Standing>()
  readonly #counts: Record<Measure, number>

  constructor(base?: NameLedger) {
    this.#base = base
    this.#counts = { ...(base?.counts ?? perMeasure(() => 0)) }
  }

  /** For requests that may yet fail. The original must stay as it is meanwhile. */
  fork(): NameLedger {
    return new NameLedger(this)
  }

  get counts(): PerMeasure<number> {
    return this.#counts
  }

  standingOf(name: string): Standing {
    return this.#standings.get(name) ?? this.#base?.standingOf(name) ?? 0
  }

  *names(): Generator<string> {
    for (const [name, standing] of this.#standings) if (standing > 0) yield name
    for (const name of this.#base?.names() ?? []) if (!this.#standings.has(name)) yield name
  }

  /**
   * @param before the services and records that a change touches, as they were
   * @param now as they are
   */
  changes(before: Iterable<ConfigEntry>, now: Iterable<ConfigEntry>): NameChanges {
    const changes = new Map<string, { before: Standing; now: Standing }>()
    const edit = (name: string, next: (standing: Standing) => Standing): void => {
      const known = changes.get(name)
      if (known !== undefined) known.now = next(known.now)
      else {
        const standing = this.standingOf(name)
        changes.set(name, { before: standing, now: next(standing) })
      }
    }
    for (const entry of before) {
      for (const [name, type] of namesOf(entry)) {
        edit(name, (at) =>
          type === null ? withService(at, Presence.Absent) : withRecords(at, type, -1),
        )
      }
    }
    for (const entry of now) {
      for (const [name, type] of namesOf(entry)) {
        edit(name, (at) =>
          type === null ? withService(at, servicePresence(entry)) : withRecords(at, type, 1),
        )
      }
    }
    for (const [name, change] of changes) if (change.before === change.now) changes.delete(name)
    return changes
  }

  apply(changes: NameChanges): void {
    for (const [name, { before, now }] of changes) {
      if (now === 0 && this.#base === undefined) this.#standings.delete(name)
      else this.#standings.set(name, now)
      for (const measure of measures) this.#counts[measure] += surplusOf(measure, now, before)
    }
  }
}

/** How many names more there are with `more` than with `less`: -1, 0 or 1. */
export function surplusOf(measure: Measure, more: Standing, less: Standing): number {
  const isThere = (standing: Standing): number =>
    Number(presenceBy(measure, standing) > Presence.Absent)
  return isThere(more) - isThere(less)
}

/** Type of the records; null: a service. */
function* namesOf(entry: ConfigEntry): Generator<readonly [name: string, type: number | null]> {
  if (entry.kind === 'Service') {
    const name = outlineName((entry as ConfigEntry<'Service'>).object.spec.domain)
    if (name !== undefined) yield [name, null]
  } else if (entry.kind === 'Records') {
    const { rrsets } = readRecords((entry as ConfigEntry<'Records'>).object.spec)
    for (const { name, type } of rrsets) yield [name, type.code]
  }
}

function servicePresence(entry: ConfigEntry): Presence {
  return presenceOf((entry as ConfigEntry<'Service'>).object.spec)
}
