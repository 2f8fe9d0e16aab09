// The catalog zone lists all zones for secondary servers that take them all. RFC 9432.
import { createHash } from 'node:crypto'
import { RrType } from '#dns/rrtype.ts'
import type { Bundle } from '#bundle/format/bundle.ts'
import { packRecords } from './packed-records.ts'
import type { ZoneChange } from './zone-changes.ts'
import type { ZoneRecord } from './zone-records.ts'
import { zoneKeyOf, zoneName, zoneNames } from './zone-records.ts'
import type { ZoneSource } from './zone-source.ts'

/** RFC 9432 section 4.1 asks for an NS record with a name that cannot exist. */
const invalid = Buffer.from('\x07invalid\0', 'latin1')
/** Resolvers do not cache a catalog. */
const ttlSeconds = 0
const timers = { refreshSeconds: 3_600, retrySeconds: 600, expireSeconds: 0x7fff_fffe }
/** RFC 9432 section 4.2.1. */
const version = Buffer.from('\x012', 'latin1')
/** Digits that are kept of a SHA-256 of a zone's name: 128 bits, so that no two names collide. */
const labelHexDigits = 32

/** @param apex of the catalog, in wire form and lower case */
export function catalogSoa({ serial }: ZoneSource, apex: Uint8Array): ZoneRecord {
  const numbers = Buffer.alloc(20)
  const { refreshSeconds, retrySeconds, expireSeconds } = timers
  const values = [serial, refreshSeconds, retrySeconds, expireSeconds, ttlSeconds]
  for (const [i, value] of values.entries()) numbers.writeUInt32BE(value, i * 4)
  const rdata = Buffer.concat([invalid, invalid, numbers])
  return { owner: apex, type: RrType.SOA, ttlSeconds, rdata }
}

/** SOA first and last. Between two steps the source may change its memory. */
export function* catalogRecords(source: ZoneSource, apex: Uint8Array): Generator<ZoneRecord> {
  const soa = catalogSoa(source, apex)
  yield soa
  yield { owner: apex, type: RrType.NS, ttlSeconds, rdata: invalid }
  const versionOwner = Buffer.concat([labelOf('version'), apex])
  yield { owner: versionOwner, type: RrType.TXT, ttlSeconds, rdata: version }
  const zones = source.bundle.zoneNode.length
  for (let row = 0; row < zones; row++) {
    yield memberRecord(zoneName(source.bundle, row), apex)
  }
  yield soa
}

function memberRecord(zone: Uint8Array, apex: Uint8Array): ZoneRecord {
  const owner = Buffer.concat([labelOf(memberId(zone)), labelOf('zones'), apex])
  return { owner, type: RrType.PTR, ttlSeconds, rdata: zone }
}

/** @returns undefined: both have the same zones */
export function memberChange(
  before: Bundle,
  after: Bundle,
  apex: Uint8Array,
): ZoneChange | undefined {
  if (before.digest === after.digest) return undefined
  const gone = new Set(zoneNames(before).map(zoneKeyOf))
  const added: ZoneRecord[] = []
  for (const zone of zoneNames(after)) {
    if (!gone.delete(zoneKeyOf(zone))) added.push(memberRecord(zone, apex))
  }
  if (gone.size + added.length === 0) return undefined
  const removed = Array.from(gone, (zone) => memberRecord(Buffer.from(zone, 'latin1'), apex))
  return { removed: packRecords(removed), added: packRecords(added) }
}

/**
 * RFC 9432 section 4.1: it stays while the zone is a member. On all nodes it is the same, so that a
 * secondary that asks another one does not start the zone anew.
 */
function memberId(zone: Uint8Array): string {
  return createHash('sha256').update(zone).digest('hex').slice(0, labelHexDigits)
}

function labelOf(text: string): Uint8Array {
  return Buffer.from(`${String.fromCharCode(text.length)}${text}`, 'latin1')
}
