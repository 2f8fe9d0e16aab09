// Says what a commit does to answers, for the thread that has made it.
import type { Bundle } from '#bundle/format/bundle.ts'
import { adoptBundle } from '#bundle/load/load.ts'
import type { CommitBundle, CommitEffects, EffectParts } from '#gitops/write/commit-effect.ts'
import { systemClock } from '#lib/clock.ts'
import type { GeoBuffers } from '#routing/geo/geo-tables.ts'
import { GeoLink } from '#runtime/geo/geo-link.ts'
import { shortWords } from '#plan/print/short.ts'
import { KnownPlaces, QuickEffects } from '#plan/quick-effect.ts'
import type { NoPlaces, QuickReason } from '#plan/quick-effect.ts'

/** What a write that was made says where its effect is not known, and why. */
export const unknownEffect = (reason: QuickReason | 'first'): string =>
  `moved=unknown; reason=${reason}`

export function createCommitEffects(parts: EffectParts, clock = systemClock): CommitEffects {
  const effects = new QuickEffects({ nowMs: () => clock.nowMs(), places: placesOf(parts) })
  /** The head of the last commit is mostly what the next one stands on. */
  let last: Bundle | undefined
  const loaded = ({ bytes, digest }: CommitBundle): Bundle =>
    last?.digest === digest ? last : adoptBundle(bytes, digest)
  return (before, after) => {
    const base = before === null ? undefined : loaded(before)
    last = loaded(after)
    if (base === undefined) return () => unknownEffect('first')
    const effect = effects.between(base, last)
    return (viewer) => (effect.ok ? shortWords(effect.of(viewer)) : unknownEffect(effect.reason))
  }
}

/** What the databases tell, until there are others. */
function placesOf({ hasDatabases, databases }: EffectParts): () => KnownPlaces | NoPlaces {
  let give: (geo: GeoBuffers) => void = () => undefined
  const link = new GeoLink({ onChange: (handler) => (give = handler) }, () => undefined)
  let geo: GeoBuffers | null = null
  let known: KnownPlaces | NoPlaces = hasDatabases ? 'unread' : 'none'
  return () => {
    const now = databases() as GeoBuffers | null
    if (now === null || now === geo) return known
    geo = now
    give(now)
    known = new KnownPlaces(now, (bundle) => link.tablesFor(bundle))
    return known
  }
}
