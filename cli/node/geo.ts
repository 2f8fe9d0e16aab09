// The geo databases of a node: their files, and the tables that threads get from them.
import { systemClock } from '#lib/clock.ts'
import type { Log } from '#lib/log.ts'
import type { GeoBuffers } from '#routing/geo/geo-tables.ts'
import type { GeoFeed } from '#runtime/geo/geo-link.ts'
import { GeoSource } from '#runtime/geo/geo-source.ts'
import type { Settings } from '#cli/settings/settings.ts'

export interface NodeGeo extends GeoFeed {
  readonly source: GeoSource
}

export function createNodeGeo({ geoip, asn, latency }: Settings, log: Log): NodeGeo {
  let handler: ((buffers: GeoBuffers) => void) | undefined
  const source = new GeoSource({
    paths: {
      ...(geoip.dbPath === undefined ? {} : { 'geoip.dbPath': geoip.dbPath }),
      ...(asn.dbPath === undefined ? {} : { 'asn.dbPath': asn.dbPath }),
      ...(latency.geoipDBPath === undefined ? {} : { 'latency.geoipDBPath': latency.geoipDBPath }),
    },
    clock: systemClock,
    log,
    onChange: (buffers) => handler?.(buffers),
  })
  return {
    source,
    onChange: (given) => {
      handler = given
    },
  }
}
