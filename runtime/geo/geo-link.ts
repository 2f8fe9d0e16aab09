// From databases to what threads read: the tables that go with a bundle, worked out when either is
// new.
import { textOf } from '#bundle/format/bundle.ts'
import type { Bundle } from '#bundle/format/bundle.ts'
import { asnPreferences } from '#routing/geo/asn-rules.ts'
import type { AsnPreferenceBuffers } from '#routing/geo/asn-rules.ts'
import { routingSettingsOf } from '#routing/choose/environment.ts'
import type { RoutingTables } from '#routing/choose/environment.ts'
import { AsnTable, noGeoBuffers } from '#routing/geo/geo-tables.ts'
import type { AsnBuffers, GeoBuffers } from '#routing/geo/geo-tables.ts'
import { TableCollector } from '#runtime/worker/table-collector.ts'

/** Databases that are read again when their files change. */
export interface GeoFeed {
  /** What is loaded now, then each newer state. */
  readonly onChange: (handler: (buffers: GeoBuffers) => void) => void
}

export class GeoLink {
  #geo: GeoBuffers = noGeoBuffers
  /** The last preferences, with what they were made from. */
  #made: {
    readonly database: AsnBuffers
    readonly settings: string
    readonly preferences: AsnPreferenceBuffers
  } | null = null

  /** @param onChange called when the tables of the serving bundle are to be published again */
  constructor(feed: GeoFeed | null, onChange: () => void) {
    if (feed === null) return
    const collector = new TableCollector()
    let number = 0
    feed.onChange((geo) => {
      this.#geo = geo
      onChange()
      collector.takenOver(++number)
    })
  }

  tablesFor(bundle: Bundle): RoutingTables {
    return { geo: this.#geo, asn: this.#asnFor(bundle) }
  }

  #asnFor(bundle: Bundle): AsnPreferenceBuffers | null {
    const database = this.#geo.asn
    const { asnRules } = routingSettingsOf(bundle)
    if (database === null || asnRules.length === 0) return null
    const settings = textOf(bundle, bundle.routingSettings[0]!)
    if (this.#made?.database !== database || this.#made.settings !== settings) {
      const preferences = asnPreferences(new AsnTable(database), asnRules)
      this.#made = { database, settings, preferences }
    }
    return this.#made.preferences
  }
}
