// Compares this machine's geo databases with those of a past answer: which were used, and whether
// the release is the same.
import type { Bundle } from '#bundle/format/bundle.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import type { RoutingTables } from '#routing/choose/environment.ts'
import type { Way } from '#routing/choose/way.ts'
import { noGeoBuffers } from '#routing/geo/geo-tables.ts'
import type { GeoBuffers } from '#routing/geo/geo-tables.ts'
import { packNetworks } from '#routing/tables/network-index.ts'
import { GeoLink } from './geo-link.ts'
import type { GeoSource, GeoSourceParts } from './geo-source.ts'
import { loadGeo } from './load.ts'
import type { GeoSetting } from './lower.ts'
import { latencyRegion } from '#routing/ways/latency-region.ts'

export interface Databases {
  readonly tablesFor: (bundle: Bundle) => RoutingTables
  /** Releases by setting, as in the journal. */
  readonly releases: Readonly<Record<string, string>>
}

/** Identifies a release of a database. */
function releaseOf(database: {
  readonly type: string
  readonly buildEpoch: number
  readonly networks: number
}): string {
  return `${database.type} ${database.buildEpoch} ${database.networks}`
}

/** By setting: the release of the database in use. */
export function databasesOf(geo: Pick<GeoSource, 'status'>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    geo.status().flatMap(({ setting, type, buildEpoch, networks }) => {
      if (type === null || buildEpoch === null || networks === null) return []
      return [[setting, releaseOf({ type, buildEpoch, networks })]]
    }),
  )
}

const settings: readonly GeoSetting[] = ['geoip.dbPath', 'asn.dbPath', 'latency.geoipDBPath']

/** Errors: a sentence with the path. */
export function loadDatabases(paths: GeoSourceParts['paths']): Result<Databases, string> {
  const releases: Record<string, string> = {}
  const loadedOf = new Map<GeoSetting, GeoBuffers>()
  for (const setting of settings) {
    const path = paths[setting] ?? ''
    if (path === '') continue
    const loaded = loadGeo({ setting, path })
    if (!loaded.ok) return err(loaded.error)
    releases[setting] = releaseOf(loaded)
    loadedOf.set(setting, loaded.buffers)
  }
  const of = (setting: GeoSetting): GeoBuffers => loadedOf.get(setting) ?? noGeoBuffers
  const [place, latency] = [of('geoip.dbPath'), of('latency.geoipDBPath')]
  const buffers = {
    country: latency.country ?? place.country,
    subdivision: latency.subdivision ?? place.subdivision,
    asn: of('asn.dbPath').asn,
    location: place.location,
  }
  return ok({ tablesFor: tablesOf(buffers), releases })
}

export function tablesOf(buffers: GeoBuffers): Databases['tablesFor'] {
  const link = new GeoLink({ onChange: (handler) => handler(buffers) }, () => undefined)
  return (bundle) => ({ ...link.tablesFor(bundle), networks: packNetworks(bundle) })
}

type Releases = Readonly<Record<string, unknown>>

/** Settings whose database is of another release. */
export function otherDatabases(then: Releases, now: Releases): readonly GeoSetting[] {
  return settings.filter((setting) => then[setting] !== now[setting])
}

/** Sentences about databases of another release; none: all are the same. */
export function otherReleases(
  then: Releases,
  now: Readonly<Record<string, string>>,
): readonly string[] {
  return otherDatabases(then, now).map((setting) => {
    const [was, is] = [then[setting], now[setting]]
    const names = `${setting}: ${is ?? 'none'} here, ${typeof was === 'string' ? was : 'none'} then`
    const advice =
      is === undefined ? `; ${setting} in the settings (--settings FILE) names one` : ''
    return `a database is not the one of then, so a client may be elsewhere (${names})${advice}`
  })
}

/** Whether the way uses one of these databases. A script may use any. */
export function goesBy(way: Way, databases: readonly GeoSetting[]): boolean {
  const { needs, argument } = way
  if (argument === 'BODY') return databases.length > 0
  const isByRegion = needs.includes('regions') || way === latencyRegion
  return databases.some((setting) => {
    if (setting === 'asn.dbPath') return needs.includes('asn-rules')
    return isByRegion || (setting === 'geoip.dbPath' && needs.includes('locations'))
  })
}
