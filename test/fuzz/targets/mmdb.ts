// What must hold of any octets that are taken for a geo database, and the hostile files collected.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Random } from '#lib/random.ts'
import { GeoTables } from '#routing/geo/geo-tables.ts'
import { lowerGeo } from '#inputs/geo/lower.ts'
import type { GeoSetting } from '#inputs/geo/lower.ts'
import { openMmdb } from '#inputs/geo/mmdb.ts'

const folder = join(import.meta.dirname, '..', 'corpus', 'mmdb')
export const geoSettings: readonly GeoSetting[] = [
  'geoip.dbPath',
  'asn.dbPath',
  'latency.geoipDBPath',
]

/** Names say what the reader must find: `<what it is>.<words of the error>`. */
export function mmdbCorpus(): { name: string; bytes: Buffer }[] {
  return readdirSync(folder)
    .sort()
    .map((name) => ({ name, bytes: readFileSync(join(folder, name)) }))
}

/**
 * @returns the error sentence, or 'accepted' after a look at the tables.
 * @throws never
 */
export function outcomeOf(bytes: Buffer, setting: GeoSetting): string {
  const database = openMmdb(bytes)
  if (!database.ok) return database.error
  const lowered = lowerGeo(database.value, setting)
  if (!lowered.ok) return lowered.error
  const { country, asn, location } = new GeoTables(lowered.value.buffers)
  for (const [table, rows] of [
    [country?.ranges, country?.countryCode.length],
    [asn?.ranges, asn?.asnNumber.length],
    [location?.ranges, location?.x.length],
  ] as const) {
    if (table === undefined) continue
    for (const address of [0, 1, 0x7fff_ffff, 0xffff_ffff]) {
      const values = [
        table.value4(table.find4(address)),
        table.value6(table.find6(address, address, address, address)),
      ]
      if (values.some((value) => !(value < rows!))) return 'a value is no row'
    }
  }
  return 'accepted'
}

/** One honest file, damaged in one to four places. */
export function damaged(good: Buffer, random: Random): Buffer {
  let bytes = Buffer.from(good)
  for (let i = random.below(4); i >= 0 && bytes.length > 0; i--) {
    const at = random.below(bytes.length)
    const kind = random.below(6)
    if (kind === 0) bytes = bytes.subarray(0, at)
    else if (kind === 1) bytes = bytes.subarray(at)
    else if (kind === 2) bytes[at]! ^= 1 << random.below(8)
    else if (kind === 3) bytes[at] = [0, 0x1f, 0x20, 0x3f, 0xe0, 0xff][random.below(6)]!
    else if (kind === 4) bytes.subarray(at, at + random.below(12)).fill(random.below(256))
    else {
      const from = random.below(bytes.length)
      bytes.copyWithin(at, from, from + random.below(24))
    }
  }
  return bytes
}
