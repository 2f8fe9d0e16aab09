// What has changed in zones between two moments: records that are gone, and records that are new.
import { changedNames } from './changed-names.ts'
import type { NameLimits } from './changed-names.ts'
import { recordsOfName, zoneBeginningAt } from './name-records.ts'
import { packRecords } from './packed-records.ts'
import { zoneKeyOf } from './zone-records.ts'
import type { ZoneRecord } from './zone-records.ts'
import type { ZoneContent } from './zone-source.ts'

/** In the form of `packRecords`, without SOA. */
export interface ZoneChange {
  readonly removed: Uint8Array
  readonly added: Uint8Array
}

/**
 * @param zones by `zoneKeyOf`; each was there before
 * @returns undefined for a zone that is not there any more, or has too many changed names; zones in
 *   which nothing has changed are not in it
 */
export function changesOfZones(
  before: ZoneContent,
  after: ZoneContent,
  zones: ReadonlySet<string>,
  limits: NameLimits,
): Map<string, ZoneChange | undefined> {
  const changes = new Map<string, ZoneChange | undefined>()
  for (const [zone, { isOver, names }] of changedNames(before, after, zones, limits)) {
    const apex = Buffer.from(zone, 'latin1')
    const was = zoneBeginningAt(before.bundle, apex, 0)
    const is = zoneBeginningAt(after.bundle, apex, 0)
    if (isOver || was < 0 || is < 0) changes.set(zone, undefined)
    else {
      const change = changeOf(names, before, was, after, is)
      if (change.removed.length + change.added.length > 0) changes.set(zone, change)
    }
  }
  return changes
}

function changeOf(
  names: Iterable<string>,
  before: ZoneContent,
  was: number,
  after: ZoneContent,
  is: number,
): ZoneChange {
  const removed: ZoneRecord[] = []
  const added: ZoneRecord[] = []
  for (const text of names) {
    const name = Buffer.from(text, 'latin1')
    const old = byRecordKey(recordsOfName(before, was, name))
    for (const [key, record] of byRecordKey(recordsOfName(after, is, name))) {
      if (!old.delete(key)) added.push(record)
    }
    removed.push(...old.values())
  }
  return { removed: packRecords(removed), added: packRecords(added) }
}

function byRecordKey(records: readonly ZoneRecord[]): Map<string, ZoneRecord> {
  return new Map(records.map((record) => [recordKeyOf(record), record]))
}

/**
 * Records with one are the same record. The TTL is a part of it: one that has changed is a record
 * less and a record more. The case of names in data is, too: a secondary is to show ours.
 */
export function recordKeyOf({ owner, type, ttlSeconds, rdata }: ZoneRecord): string {
  return `${type} ${ttlSeconds} ${zoneKeyOf(owner)} ${zoneKeyOf(rdata)}`
}
