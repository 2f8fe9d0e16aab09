// The records of a node that were written at run time, by name, changed in place. The same records
// make the same rrsets on every node.
import { parseName } from '#dns/name.ts'
import { canonicalKey } from '#dns/rdata-text/name-text.ts'
import { RrType } from '#dns/rrtype.ts'
import type { RecordDelta, StoredRecord } from '#state/ports/dynamic-dns.ts'

export interface WrittenRrset {
  readonly type: number
  /** The smallest of its records: an rrset has one TTL. RFC 2181 section 5.2. */
  readonly ttlSeconds: number
  /** Data on the wire, in the order of their octets; names in it are whole. */
  readonly values: readonly Uint8Array[]
}

export interface WrittenName {
  /** Wire form, in lower case. */
  readonly name: Uint8Array
  /** By type. None: there are none any more. */
  readonly rrsets: readonly WrittenRrset[]
}

export interface WrittenSnapshot {
  /** Rises with every change, equal on all nodes that have these records. */
  readonly revision: number
  /** In the order of RFC 4034 section 6.1. */
  readonly records: readonly WrittenName[]
}

export function writtenSnapshot(revision: number, stored: Iterable<StoredRecord>): WrittenSnapshot {
  const texts = new WrittenRecords()
  texts.change({ revision, removed: [], added: [...stored] })
  return texts.snapshot()
}

interface NamedRecords {
  /** By id. */
  readonly records: Map<string, StoredRecord>
  found: WrittenName
}

export class WrittenRecords {
  #revision = 0
  /** By name, as people write it. Names that are none are not there. */
  readonly #byName = new Map<string, NamedRecords>()
  /** By id. */
  readonly #records = new Map<string, StoredRecord>()
  #bytes = 0

  get revision(): number {
    return this.#revision
  }

  /** Names with records. */
  get count(): number {
    return this.#byName.size
  }

  /** Octets of names and data. */
  get bytes(): number {
    return this.#bytes
  }

  /** What makes these records of those that are here. A record never changes under its id. */
  deltaTo(stored: readonly StoredRecord[]): Omit<RecordDelta, 'revision'> {
    const ids = new Set(stored.map(({ id }) => id))
    return {
      removed: [...this.#records.keys()].filter((id) => !ids.has(id)),
      added: stored.filter(({ id }) => !this.#records.has(id)),
    }
  }

  /** @returns the names that have other records now */
  change(delta: RecordDelta): readonly string[] {
    this.#revision = delta.revision
    const names = new Set<string>()
    for (const id of delta.removed) {
      const record = this.#records.get(id)
      if (record === undefined) continue
      this.#records.delete(id)
      this.#byName.get(record.name)?.records.delete(id)
      names.add(record.name)
    }
    for (const record of delta.added) {
      this.#records.set(record.id, record)
      const known = this.#byName.get(record.name)
      if (known === undefined) {
        const records = new Map([[record.id, record]])
        this.#byName.set(record.name, { records, found: nothing })
      } else {
        known.records.set(record.id, record)
      }
      names.add(record.name)
    }
    for (const name of names) this.#build(name)
    return [...names]
  }

  #build(name: string): void {
    const known = this.#byName.get(name)
    const wire = parseName(name)
    if (known === undefined || !wire.ok) return void this.#byName.delete(name)
    this.#bytes -= bytesOf(known.found)
    if (known.records.size === 0) return void this.#byName.delete(name)
    known.found = { name: wire.value, rrsets: rrsetsOf([...known.records.values()]) }
    this.#bytes += bytesOf(known.found)
  }

  /** @param name as people write it: absolute, in lower case */
  find(name: string): WrittenName | undefined {
    return this.#byName.get(name)?.found
  }

  /** @param name as people write it: absolute, in lower case */
  recordsAt(name: string): readonly StoredRecord[] {
    return [...(this.#byName.get(name)?.records.values() ?? [])]
  }

  /** Whether other tenants have records at this very name. */
  hasOthers(tenantId: string, name: string): boolean {
    const records = this.#byName.get(name)?.records.values() ?? []
    return [...records].some((record) => record.tenantId !== tenantId)
  }

  names(): Iterable<string> {
    return this.#byName.keys()
  }

  records(): Iterable<StoredRecord> {
    return this.#records.values()
  }

  snapshot(): WrittenSnapshot {
    const names = [...this.#byName.values()].map(({ found }) => found)
    return { revision: this.#revision, records: inOrder(names) }
  }
}

/** In the order of RFC 4034 section 6.1. */
export function inOrder(names: readonly WrittenName[]): readonly WrittenName[] {
  const keyed = names.map((found) => ({ key: canonicalKey(found.name), found }))
  keyed.sort((a, b) => (a.key < b.key ? -1 : 1))
  return keyed.map(({ found }) => found)
}

const nothing: WrittenName = Object.freeze({ name: new Uint8Array(0), rrsets: [] })

const bytesOf = ({ name, rrsets }: WrittenName): number =>
  rrsets.reduce(
    (sum, { values }) => values.reduce((more, { length }) => more + length, sum),
    name.length,
  )

function rrsetsOf(records: readonly StoredRecord[]): readonly WrittenRrset[] {
  const byType = Map.groupBy(records, ({ type }) => type)
  // The store refuses an alias beside anything else, but a node of an older version adds texts
  // beside one without looking. An alias is alone, or it is not there.
  if (byType.size > 1) byType.delete(RrType.CNAME)
  return [...byType].sort(([a], [b]) => a - b).map(([type, some]) => rrsetOf(type, some))
}

function rrsetOf(type: number, records: readonly StoredRecord[]): WrittenRrset {
  return {
    type,
    ttlSeconds: Math.min(...records.map(({ ttlSeconds }) => ttlSeconds)),
    values: records.map(({ rdata }) => Buffer.from(rdata, 'base64')).sort((a, b) => a.compare(b)),
  }
}
