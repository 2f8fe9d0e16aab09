// Puts the digest of a zone (ZONEMD, RFC 8976) among the records of a transfer.
import { ZoneDigest } from '#dns/dnssec/zone-digest.ts'
import { sameOctets } from '#dns/name.ts'
import { RrType } from '#dns/rrtype.ts'
import { digestedRecordsMax, nodesPerTurn } from './limits.ts'
import { serialOf, zoneRecords } from './zone-records.ts'
import type { ZoneRecord, ZoneStep } from './zone-records.ts'
import type { ZoneSource } from './zone-source.ts'

/**
 * As `zoneRecords`, with a ZONEMD record that is right for exactly these. It is made by the first
 * transfer of a zone while it shows the records, and kept with the source for the next ones. A
 * zone of more than `digestedRecordsMax` records has none.
 */
export function* digestedRecords(
  source: ZoneSource,
  zone: number,
  recordsMax = digestedRecordsMax,
): Generator<ZoneStep> {
  const known = source.digests.get(zone)
  let digest = known === undefined ? new ZoneDigest() : undefined
  let soa: ZoneRecord | undefined
  let count = 0
  for (const step of zoneRecords(source, zone)) {
    if (step === null) {
      yield null
    } else if (soa === undefined) {
      soa = step
      digest?.add(step)
      yield step
      if (known !== undefined) yield known
    } else if (step === soa) {
      if (digest !== undefined) yield yield* made(source, zone, soa, digest)
      yield step
    } else if (step.type !== RrType.ZONEMD || !sameOctets(step.owner, soa.owner)) {
      // Left out: a digest that somebody wrote, which is one of other records.
      if (++count > recordsMax) digest = undefined
      digest?.add(step)
      yield step
    }
  }
}

/** @returns the ZONEMD record of a zone; undefined: it has too many records */
export function* zoneDigest(
  source: ZoneSource,
  zone: number,
  recordsMax = digestedRecordsMax,
): Generator<null, ZoneRecord | undefined> {
  if (source.undigested.has(zone) || source.digests.has(zone)) return source.digests.get(zone)
  let count = 0
  for (const step of digestedRecords(source, zone, recordsMax)) {
    if (step === null || ++count % nodesPerTurn === 0) yield null
    // Two SOA records and the digest are shown besides.
    if (count > recordsMax + 3) break
  }
  if (!source.digests.has(zone)) source.undigested.add(zone)
  return source.digests.get(zone)
}

function* made(
  source: ZoneSource,
  zone: number,
  soa: ZoneRecord,
  digest: ZoneDigest,
): Generator<null, ZoneRecord> {
  const rdata = yield* digest.rdata(serialOf(soa.rdata))
  // RFC 8976 section 2.1: its TTL is to be that of the SOA record.
  const record = { ...soa, type: RrType.ZONEMD, rdata }
  source.digests.set(zone, record)
  return record
}
