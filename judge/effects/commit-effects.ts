// Computes what a commit does to answers, for the thread that made it.
import type { Bundle } from '#bundle/format/bundle.ts'
import { adoptBundle } from '#bundle/load/load.ts'
import type { CommitBundle, CommitEffect, CommitEffects, EffectParts } from './commit-effect.ts'
import { MovedNames } from './moved-between.ts'
import { systemClock } from '#lib/clock.ts'
import type { GeoBuffers } from '#routing/geo/geo-tables.ts'
import { GeoLink } from '#inputs/geo/geo-link.ts'
import { shortSummary } from '#judge/print/short.ts'
import { KnownPlaces, QuickEffects } from '#judge/plan/quick-effect.ts'
import type { PlacesState } from '#judge/plan/quick-effect.ts'

export function createCommitEffects(parts: EffectParts, clock = systemClock): CommitEffects {
  const places = new PlacesNow(parts)
  const create = () => new QuickEffects({ nowMs: () => clock.nowMs(), places: () => places.now() })
  let effects = create()
  /** The head of the last comparison: the next commit mostly builds on it. */
  let last: Bundle | undefined
  const loaded = ({ bytes, digest }: CommitBundle): Bundle =>
    last?.digest === digest ? last : adoptBundle(bytes, digest)
  return {
    between(before, after) {
      const base = before === null ? undefined : loaded(before)
      last = loaded(after)
      if (base === undefined) return { moved: 'first' }
      const effect = effects.between(base, last)
      const moved = movedBy(effect)
      return effect.ok ? { moved, text: (viewer) => shortSummary(effect.of(viewer)) } : { moved }
    },
    movedOf: (names, before, after) =>
      movedBy(effects.between(loaded(before), loaded(after), names)),
    renew() {
      places.now()
      // Made anew, since its sides hold the tables of the old databases.
      effects = create()
    },
  }
}

function movedBy(effect: ReturnType<QuickEffects['between']>): CommitEffect['moved'] {
  if (!effect.ok) return effect.reason
  const moved = new MovedNames()
  for (const change of effect.changes) moved.add(change)
  return moved.all
}

/** The places by the current databases. */
class PlacesNow {
  readonly #parts: EffectParts
  #geo: GeoBuffers | null = null
  #known: KnownPlaces | PlacesState

  constructor(parts: EffectParts) {
    this.#parts = parts
    this.#known = parts.hasDatabases ? 'unread' : 'none'
  }

  now(): KnownPlaces | PlacesState {
    const geo = this.#parts.databases() as GeoBuffers | null
    if (geo === null || geo === this.#geo) return this.#known
    this.#geo = geo
    const link = new GeoLink({ onChange: (handler) => handler(geo) }, () => undefined)
    this.#known = new KnownPlaces(geo, (bundle) => link.tablesFor(bundle))
    return this.#known
  }
}
