// Loads the geo databases of a simulation from files, as a node does.
import type { Bundle } from '#bundle/format/bundle.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import type { RoutingTables } from '#routing/choose/environment.ts'
import { noGeoBuffers } from '#routing/geo/geo-tables.ts'
import type { GeoBuffers } from '#routing/geo/geo-tables.ts'
import { packNetworks } from '#routing/tables/network-index.ts'
import { loadGeo } from '#inputs/geo/load.ts'
import type { GeoLoadRequest } from '#inputs/geo/load.ts'
import { loadGeoInThread } from '#inputs/geo/load-thread.ts'
import { GeoLink } from '#inputs/geo/geo-link.ts'

/** Paths of the databases that locate clients. */
export interface GeoPaths {
  readonly geoip?: string | undefined
  readonly asn?: string | undefined
}

type TablesOf = (bundle: Bundle) => RoutingTables

/** @returns an error as a sentence with the path */
export function loadTables(paths: GeoPaths): Result<TablesOf, string> {
  return joined(requestsOf(paths).map(loadGeo))
}

/** Loads each table in a thread of its own, so that this one can go on. */
export async function loadTablesAside(paths: GeoPaths): Promise<Result<TablesOf, string>> {
  const loading = requestsOf(paths).map((request) => loadGeoInThread(request).done)
  return joined(await Promise.all(loading))
}

function requestsOf({ geoip, asn }: GeoPaths): readonly GeoLoadRequest[] {
  return [
    ...(geoip === undefined ? [] : [{ setting: 'geoip.dbPath', path: geoip } as const]),
    ...(asn === undefined ? [] : [{ setting: 'asn.dbPath', path: asn } as const]),
  ]
}

function joined(all: readonly ReturnType<typeof loadGeo>[]): Result<TablesOf, string> {
  let buffers: GeoBuffers = noGeoBuffers
  for (const loaded of all) {
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
