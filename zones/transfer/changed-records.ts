// The records of a transfer of changes since a version. RFC 1995 section 4.
import { sameOctets } from '#dns/name.ts'
import { RrType } from '#dns/rrtype.ts'
import type { GivenVersion } from './given-versions.ts'
import { nodesPerTurn } from './limits.ts'
import { unpackRecords } from './packed-records.ts'
import { recordKeyOf } from './zone-changes.ts'
import type { ZoneChange } from './zone-changes.ts'
import type { ZoneRecord, ZoneStep } from './zone-records.ts'

interface ChangedParts {
  /** SOA of the version that the client has. */
  readonly from: GivenVersion
  readonly soa: ZoneRecord
  /** In order, from the client's version to the current one. */
  readonly changes: readonly ZoneChange[]
  /** Makes the ZONEMD record of the zone as it is now; undefined: zones are sent without. */
  readonly digest: (() => Generator<null, ZoneRecord | undefined>) | undefined
}

/**
 * One sequence of differences, whatever many versions are between the two (RFC 1995 section 5): the
 * newest SOA; the older one, and what is gone with it; the newest, and what is new; the newest.
 */
export function* changedRecords({ from, soa, changes, digest }: ChangedParts): Generator<ZoneStep> {
  const made = digest === undefined ? undefined : yield* digest()
  const { removed, added } = yield* condensed(changes)
  // A digest that somebody wrote gives way to the one that is made.
  const isShown = ({ type, owner }: ZoneRecord): boolean =>
    digest === undefined || type !== RrType.ZONEMD || !sameOctets(owner, soa.owner)
  yield soa
  yield from.soa
  if (from.digest !== undefined) yield from.digest
  for (const record of removed) if (isShown(record)) yield record
  yield soa
  if (made !== undefined) yield made
  for (const record of added) if (isShown(record)) yield record
  yield soa
}

interface Difference {
  readonly removed: Iterable<ZoneRecord>
  readonly added: Iterable<ZoneRecord>
}

/** Octets of changes that are to be made one of, in memory. */
export function condensedBytes(changes: readonly ZoneChange[]): number {
  return changes.length < 2 ? 0 : bytesOfChanges(changes)
}

export function bytesOfChanges(changes: readonly ZoneChange[]): number {
  return changes.reduce((sum, { removed, added }) => sum + removed.length + added.length, 0)
}

/** Records that came and went again, or went and came again, are in neither. */
function* condensed(changes: readonly ZoneChange[]): Generator<null, Difference> {
  const [only] = changes
  if (only !== undefined && changes.length === 1) {
    return { removed: unpackRecords(only.removed), added: unpackRecords(only.added) }
  }
  const removed = new Map<string, ZoneRecord>()
  const added = new Map<string, ZoneRecord>()
  let count = 0
  for (const change of changes) {
    for (const record of unpackRecords(change.removed)) {
      const key = recordKeyOf(record)
      if (!added.delete(key)) removed.set(key, record)
      if (++count % nodesPerTurn === 0) yield null
    }
    for (const record of unpackRecords(change.added)) {
      const key = recordKeyOf(record)
      if (!removed.delete(key)) added.set(key, record)
      if (++count % nodesPerTurn === 0) yield null
    }
  }
  return { removed: removed.values(), added: added.values() }
}
