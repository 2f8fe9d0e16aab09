// Combines a bundle and the geo databases into the tables that threads read, when either changes.
import { textOf } from '#bundle/format/bundle.ts'
import type { Bundle } from '#bundle/format/bundle.ts'
import { asnPreferences } from '#routing/geo/asn-rules.ts'
import type { AsnPreferenceBuffers } from '#routing/geo/asn-rules.ts'
import { routingSettingsOf } from '#routing/choose/environment.ts'
import type { RoutingTables } from '#routing/choose/environment.ts'
import { AsnTable, noGeoBuffers } from '#routing/geo/geo-tables.ts'
import type { AsnBuffers, CountryBuffers, GeoBuffers } from '#routing/geo/geo-tables.ts'
import { regionTable, regionsWithSubdivisions } from '#routing/geo/region-table.ts'
import { TableCollector } from '#system/worker/table-collector.ts'

/** Databases that are reloaded when their files change. */
export interface GeoFeed {
  /** Calls `handler` with the loaded tables, then with each newer state. */
  readonly onChange: (handler: (buffers: GeoBuffers) => void) => void
}

export class GeoLink {
  #geo: GeoBuffers = noGeoBuffers
  /** The last preferences, and their inputs. */
  #made: {
    readonly database: AsnBuffers
    readonly settings: string
    readonly preferences: AsnPreferenceBuffers
  } | null = null
  /** The last table of regions, and its inputs. */
  #regions: {
    readonly database: CountryBuffers
    readonly regions: string
    readonly table: CountryBuffers | null
  } | null = null

  /** @param onChange called when the active bundle's tables are to be published again */
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
    return { geo: this.#geo, asn: this.#asnFor(bundle), regions: this.#regionsFor(bundle) }
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

  #regionsFor(bundle: Bundle): CountryBuffers | null {
    const database = this.#geo.subdivision
    if (database === null) return null
    const places = regionsWithSubdivisions(bundle)
    if (places.size === 0) return null
    const regions = [...places].sort((a, b) => a - b).join(' ')
    if (this.#regions?.database !== database || this.#regions.regions !== regions) {
      this.#regions = { database, regions, table: regionTable(database, places) }
    }
    return this.#regions.table
  }
}
