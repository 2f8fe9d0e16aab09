// The TXT records of a node as rrsets, changed in place. The same records make the same rrsets on
// every node.
import { parseName } from '#dns/name.ts'
import { canonicalKey } from '#dns/rdata-text/name-text.ts'
import type { StoredRecord, RecordDelta } from '#state/ports/dynamic-dns.ts'

export interface WrittenName {
  /** Wire form, in lower case. */
  readonly name: Uint8Array
  /** The smallest of its records: an rrset has one TTL. RFC 2181 section 5.2. */
  readonly ttlSeconds: number
  /** Data on the wire, in the order of their octets. None: there is no such rrset any more. */
  readonly values: readonly Uint8Array[]
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
  rrset: WrittenName
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
        this.#byName.set(record.name, { records, rrset: nothing })
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
    this.#bytes -= bytesOf(known.rrset)
    if (known.records.size === 0) return void this.#byName.delete(name)
    known.rrset = rrsetOf(wire.value, [...known.records.values()])
    this.#bytes += bytesOf(known.rrset)
  }

  /** @param name as people write it: absolute, in lower case */
  find(name: string): WrittenName | undefined {
    return this.#byName.get(name)?.rrset
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
    const rrsets = [...this.#byName.values()].map(({ rrset }) => rrset)
    return { revision: this.#revision, records: inOrder(rrsets) }
  }
}

/** In the order of RFC 4034 section 6.1. */
export function inOrder(rrsets: readonly WrittenName[]): readonly WrittenName[] {
  const keyed = rrsets.map((rrset) => ({ key: canonicalKey(rrset.name), rrset }))
  keyed.sort((a, b) => (a.key < b.key ? -1 : 1))
  return keyed.map(({ rrset }) => rrset)
}

const nothing: WrittenName = Object.freeze({ name: new Uint8Array(0), ttlSeconds: 0, values: [] })

const bytesOf = ({ name, values }: WrittenName): number =>
  values.reduce((sum, { length }) => sum + length, name.length)

function rrsetOf(name: Uint8Array, records: readonly StoredRecord[]): WrittenName {
  return {
    name,
    ttlSeconds: Math.min(...records.map(({ ttlSeconds }) => ttlSeconds)),
    values: records.map(({ rdata }) => Buffer.from(rdata, 'base64')).sort((a, b) => a.compare(b)),
  }
}
