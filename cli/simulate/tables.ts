// Loads the geo databases of a simulation from files, as a node does.
import type { Bundle } from '#bundle/format/bundle.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import type { RoutingTables } from '#routing/choose/environment.ts'
import { noGeoBuffers } from '#routing/geo/geo-tables.ts'
import type { GeoBuffers } from '#routing/geo/geo-tables.ts'
import { packNetworks } from '#routing/tables/network-index.ts'
import { loadGeo } from '#runtime/geo/load.ts'
import { GeoLink } from '#runtime/geo/geo-link.ts'

/** @returns an error as a sentence with the path */
export function loadTables(paths: {
  readonly geoip?: string | undefined
  readonly asn?: string | undefined
}): Result<(bundle: Bundle) => RoutingTables, string> {
  let buffers: GeoBuffers = noGeoBuffers
  for (const [setting, path] of [
    ['geoip.dbPath', paths.geoip],
    ['asn.dbPath', paths.asn],
  ] as const) {
    if (path === undefined) continue
    const loaded = loadGeo({ setting, path })
    if (!loaded.ok) return err(loaded.error)
    const { country, subdivision, asn, location } = loaded.buffers
    buffers = {
      country: country ?? buffers.country,
      subdivision: subdivision ?? buffers.subdivision,
      asn: asn ?? buffers.asn,
      location: location ?? buffers.location,
    }
  }
  const link = new GeoLink({ onChange: (handler) => handler(buffers) }, () => undefined)
  return ok((bundle) => ({ ...link.tablesFor(bundle), networks: packNetworks(bundle) }))
}
