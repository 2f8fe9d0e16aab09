// Computes the effect of an update's changes on the TXT records of their names.
import { dynamicDnsLimits } from '../ports/dynamic-dns.ts'
import type { StoredRecord, RecordChange } from '../ports/dynamic-dns.ts'

export interface NewRecord {
  readonly name: string
  readonly rdata: string
  readonly ttlSeconds: number
}

export interface ChangedRecords {
  readonly added: readonly NewRecord[]
  readonly removed: readonly StoredRecord[]
}

/**
 * Applies the changes in order: a record deleted and added again stays.
 *
 * @param stored all records of the names in the changes
 * @param tenantId the writer: records of other tenants at the names are not deleted
 */
export function changedRecords(
  stored: readonly StoredRecord[],
  changes: readonly RecordChange[],
  tenantId: string,
): ChangedRecords | 'too-many-records' {
  const byName = new Map<string, Map<string, NewRecord | StoredRecord>>()
  const of = (name: string): Map<string, NewRecord | StoredRecord> => {
    const known = byName.get(name) ?? new Map<string, NewRecord | StoredRecord>()
    byName.set(name, known)
    return known
  }
  const before = new Map(stored.map((record) => [keyOf(record), record]))
  for (const record of stored) of(record.name).set(record.rdata, record)
  for (const change of changes) {
    const records = of(change.name)
    if (change.verb !== 'add') {
      for (const [rdata, record] of records) {
        const isOwn = !('id' in record) || record.tenantId === tenantId
        const isMeant = change.verb === 'delete-all' || rdata === change.rdata
        if (isOwn && isMeant) records.delete(rdata)
      }
    } else if (!records.has(change.rdata)) {
      const { name, rdata, ttlSeconds } = change
      // Records that existed before the update keep their id and TTL.
      records.set(rdata, before.get(keyOf(change)) ?? { name, rdata, ttlSeconds })
    }
  }
  const added: NewRecord[] = []
  const kept = new Set<StoredRecord>()
  for (const records of byName.values()) {
    for (const record of records.values()) {
      if ('id' in record) kept.add(record)
      else added.push(record)
    }
    // A name that has too many already may only lose records.
    if (added.length > 0 && isTooMuch([...records.values()])) return 'too-many-records'
  }
  return { added, removed: stored.filter((record) => !kept.has(record)) }
}

const keyOf = ({ name, rdata }: NewRecord | (RecordChange & { rdata: string })): string =>
  `${name} ${rdata}`

function isTooMuch(records: readonly NewRecord[]): boolean {
  const { recordsPerNameMax, rdataBytesPerNameMax } = dynamicDnsLimits
  const octets = records.reduce((sum, { rdata }) => sum + Buffer.byteLength(rdata, 'base64'), 0)
  return records.length > recordsPerNameMax || octets > rdataBytesPerNameMax
}
