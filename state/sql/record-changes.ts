// Computes the effect of an update's changes on the records of their names. RFC 2136 section 3.4.2.
import { dynamicDnsLimits, writtenTypes } from '../ports/dynamic-dns.ts'
import type { RecordChange, StoredRecord } from '../ports/dynamic-dns.ts'

interface NewRecord {
  readonly name: string
  readonly type: number
  readonly rdata: string
  readonly ttlSeconds: number
}

interface ChangedRecords {
  readonly added: readonly NewRecord[]
  readonly removed: readonly StoredRecord[]
}

type AnyRecord = NewRecord | StoredRecord
type Addition = Extract<RecordChange, { verb: 'add' }>

const { CNAME, TXT } = writtenTypes

/**
 * Applies the changes in order: a record deleted and added again stays. What is added beside an
 * alias, and an alias beside anything else, is left out, as section 3.4.2.2 has it.
 *
 * @param stored all records of the names in the changes
 * @param tenantId the writer: records of other tenants at the names are neither deleted nor
 * replaced
 */
export function changedRecords(
  stored: readonly StoredRecord[],
  changes: readonly RecordChange[],
  tenantId: string,
): ChangedRecords | 'too-many-records' {
  const names = new Map<string, NameRecords>()
  const at = (name: string): NameRecords => {
    const known = names.get(name) ?? new NameRecords(tenantId)
    names.set(name, known)
    return known
  }
  for (const record of stored) at(record.name).start(record)
  for (const change of changes) {
    const records = at(change.name)
    if (change.verb === 'add') records.add(change)
    else records.remove(change)
  }
  const added: NewRecord[] = []
  const kept = new Set<StoredRecord>()
  for (const records of names.values()) {
    const all = records.all()
    let isMore = false
    for (const record of all) {
      if ('id' in record) kept.add(record)
      else {
        added.push(record)
        isMore = true
      }
    }
    // A name that has too many already may only lose records.
    if (isMore && isTooMuch(all)) return 'too-many-records'
  }
  return { added, removed: stored.filter((record) => !kept.has(record)) }
}

/** The records of one name while the changes of an update are applied. */
class NameRecords {
  readonly #tenantId: string
  readonly #before = new Map<string, StoredRecord>()
  readonly #records = new Map<string, AnyRecord>()

  constructor(tenantId: string) {
    this.#tenantId = tenantId
  }

  start(record: StoredRecord): void {
    this.#before.set(keyOf(record), record)
    this.#records.set(keyOf(record), record)
  }

  all(): readonly AnyRecord[] {
    return [...this.#records.values()]
  }

  remove(change: Exclude<RecordChange, { verb: 'add' }>): void {
    for (const [key, record] of this.#records) {
      const isMeant =
        change.verb === 'delete-all' ||
        (change.type === record.type && (change.verb !== 'delete' || key === keyOf(change)))
      if (isMeant && this.#isOwn(record)) this.#records.delete(key)
    }
  }

  add({ name, type, rdata, ttlSeconds }: Addition): void {
    const all = this.all()
    if (all.some((other) => (other.type === CNAME) !== (type === CNAME))) return
    const key = keyOf({ type, rdata })
    const known = this.#records.get(key)
    // A TXT record that is there stays as it is, and so does what another tenant has written.
    if (known !== undefined && (type === TXT || !this.#isOwn(known))) return
    if (known?.ttlSeconds === ttlSeconds) return
    if (type === CNAME) {
      // A name has one alias: the new one replaces it.
      if (all.some((other) => !this.#isOwn(other))) return
      this.#records.clear()
    }
    const before = this.#before.get(key)
    // Records that existed before the update keep their id, and TXT records their TTL.
    const isSame = before !== undefined && (type === TXT || before.ttlSeconds === ttlSeconds)
    this.#records.set(key, isSame ? before : { name, type, rdata, ttlSeconds })
  }

  #isOwn(record: AnyRecord): boolean {
    return !('id' in record) || record.tenantId === this.#tenantId
  }
}

const keyOf = ({ type, rdata }: Pick<NewRecord, 'type' | 'rdata'>): string => `${type} ${rdata}`

function isTooMuch(records: readonly NewRecord[]): boolean {
  const { recordsPerNameMax, rdataBytesPerNameMax } = dynamicDnsLimits
  const octets = records.reduce((sum, { rdata }) => sum + Buffer.byteLength(rdata, 'base64'), 0)
  return records.length > recordsPerNameMax || octets > rdataBytesPerNameMax
}
