// What steps are bound to: the settings of a bundle and the tables that stand beside it.
import { textOf } from '#bundle/format/bundle.ts'
import type { Bundle } from '#bundle/format/bundle.ts'
import type { RoutingText } from '#bundle/format/routing-cells.ts'
import { parseRoutingText } from '#bundle/format/routing-text.ts'
import { assert } from '#lib/assert.ts'
import { AsnPreferences } from '#routing/geo/asn-rules.ts'
import type { AsnPreferenceBuffers } from '#routing/geo/asn-rules.ts'
import { GeoTables, noGeoBuffers } from '#routing/geo/geo-tables.ts'
import type { GeoBuffers } from '#routing/geo/geo-tables.ts'
import { RumTable } from '#routing/rum/table.ts'
import type { ScriptPort } from '#routing/script/port.ts'

export interface RoutingEnvironment {
  readonly bundle: Bundle
  readonly settings: RoutingText
  readonly geo: GeoTables
  /** null: no database of autonomous systems, or no rules. */
  readonly asn: AsnPreferences | null
  /** null: nothing is measured by browsers. */
  readonly rum: RumTable | null
  /** null: scripts are not run; a script step changes nothing. */
  readonly scripts: ScriptPort | null
}

/** Tables that change by themselves, not with a bundle; shared memory, for handing to threads. */
export interface RoutingTables {
  readonly geo: GeoBuffers
  readonly asn: AsnPreferenceBuffers | null
  /** See rum-table.ts; without it, or null, browsers measure nothing. */
  readonly rum?: SharedArrayBuffer | null
  /** Of `packNetworks`; without it, or null, client networks are searched from end to end. */
  readonly networks?: SharedArrayBuffer | null
}

export const noRoutingTables: RoutingTables = Object.freeze({ geo: noGeoBuffers, asn: null })

export function createEnvironment(
  bundle: Bundle,
  { geo, asn, rum = null }: RoutingTables,
  scripts: ScriptPort | null,
): RoutingEnvironment {
  return {
    bundle,
    settings: routingSettingsOf(bundle),
    geo: new GeoTables(geo),
    asn: asn === null ? null : new AsnPreferences(asn),
    rum: rum === null ? null : new RumTable(rum, bundle),
    scripts,
  }
}

/** The routing settings of a bundle that the loader has accepted. */
export function routingSettingsOf(bundle: Bundle): RoutingText {
  const settings = parseRoutingText(textOf(bundle, bundle.routingSettings[0]!))
  assert(settings !== undefined, 'the loader has read the routing settings')
  return settings
}
