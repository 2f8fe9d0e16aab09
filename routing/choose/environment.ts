// Collects what steps are bound to: the settings of a bundle, and the geo, RUM and script tables.
import { textOf } from '#bundle/format/bundle.ts'
import type { Bundle } from '#bundle/format/bundle.ts'
import { parseRoutingText } from '#bundle/format/routing-text.ts'
import type { RoutingText } from '#bundle/format/routing-text.ts'
import { assert } from '#lib/assert.ts'
import { AsnPreferences } from '#routing/geo/asn-rules.ts'
import type { AsnPreferenceBuffers } from '#routing/geo/asn-rules.ts'
import { CountryTable, GeoTables, noGeoBuffers } from '#routing/geo/geo-tables.ts'
import type { CountryBuffers, GeoBuffers } from '#routing/geo/geo-tables.ts'
import { RumTable } from '#routing/rum/table.ts'
import type { ScriptPort } from '#routing/script/port.ts'

export interface RoutingEnvironment {
  readonly bundle: Bundle
  readonly settings: RoutingText
  readonly geo: GeoTables
  /** Regions of members by client; null: there is no database of countries. */
  readonly regions: CountryTable | null
  /** null: no database of autonomous systems, or no rules. */
  readonly asn: AsnPreferences | null
  /** null: browsers measure nothing. */
  readonly rum: RumTable | null
  /** null: scripts are not run; a script step changes nothing. */
  readonly scripts: ScriptPort | null
}

/** Tables that change independently of bundles, in shared memory that is handed to threads. */
export interface RoutingTables {
  readonly geo: GeoBuffers
  readonly asn: AsnPreferenceBuffers | null
  /**
   * The result of `regionTable`. Left out or null: only countries and continents are told apart.
   */
  readonly regions?: CountryBuffers | null
  /** See routing/rum/table.ts. Left out or null: browsers measure nothing. */
  readonly rum?: SharedArrayBuffer | null
  /**
   * The result of `packNetworks`. Left out or null: client networks are searched from end to end.
   */
  readonly networks?: SharedArrayBuffer | null
}

export const noRoutingTables: RoutingTables = Object.freeze({ geo: noGeoBuffers, asn: null })

export function createEnvironment(
  bundle: Bundle,
  { geo, asn, regions = null, rum = null }: RoutingTables,
  scripts: ScriptPort | null,
): RoutingEnvironment {
  const tables = new GeoTables(geo)
  return {
    bundle,
    settings: routingSettingsOf(bundle),
    geo: tables,
    regions: regions === null ? tables.country : new CountryTable(regions),
    asn: asn === null ? null : new AsnPreferences(asn),
    rum: rum === null ? null : new RumTable(rum, bundle),
    scripts,
  }
}

/** Returns the routing settings of a bundle that the loader has accepted. */
export function routingSettingsOf(bundle: Bundle): RoutingText {
  const settings = parseRoutingText(textOf(bundle, bundle.routingSettings[0]!))
  assert(settings !== undefined, 'the loader has read the routing settings')
  return settings
}
