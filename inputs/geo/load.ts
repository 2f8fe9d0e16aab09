// Loads a geo database from a path into tables.
import type { GeoBuffers } from '#routing/geo/geo-tables.ts'
import { readUnchanged } from './geo-file.ts'
import type { Fingerprint } from './geo-file.ts'
import { lowerGeo } from './lower.ts'
import type { GeoSetting } from './lower.ts'
import { openMmdb } from './mmdb.ts'

export interface GeoLoadRequest {
  readonly setting: GeoSetting
  readonly path: string
}

export interface GeoLoaded {
  readonly ok: true
  readonly fingerprint: Fingerprint
  readonly type: string
  /** Seconds since the Unix epoch. */
  readonly buildEpoch: number
  readonly networks: number
  readonly buffers: GeoBuffers
}

export interface GeoNotLoaded {
  readonly ok: false
  /** Fingerprint of the refused file; undefined: it could not be read. */
  readonly fingerprint: Fingerprint | undefined
  /** A sentence with the path. */
  readonly error: string
}

export function loadGeo({ setting, path }: GeoLoadRequest): GeoLoaded | GeoNotLoaded {
  const file = readUnchanged(path)
  if (!file.ok) return { ok: false, fingerprint: undefined, error: file.error }
  const { bytes, fingerprint } = file.value
  const refused = (what: string): GeoNotLoaded => {
    return { ok: false, fingerprint, error: `the database ${path} ${what}` }
  }
  const database = openMmdb(bytes)
  if (!database.ok) return refused(database.error)
  const lowered = lowerGeo(database.value, setting)
  if (!lowered.ok) return refused(lowered.error)
  const { type, buildEpoch } = database.value
  return { ok: true, fingerprint, type, buildEpoch, ...lowered.value }
}
