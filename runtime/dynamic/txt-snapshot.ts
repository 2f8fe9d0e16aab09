// The TXT records of a node as rrsets. The same records make the same snapshot on every node.
import { parseName } from '#dns/name.ts'
import { canonicalKey } from '#dns/rdata-text/name-text.ts'
import type { StoredTxtRecord } from '#state/ports/dynamic-dns.ts'

export interface TxtRrset {
  /** Wire form, in lower case. */
  readonly name: Uint8Array
  /** The smallest of its records: an rrset has one TTL. RFC 2181 section 5.2. */
  readonly ttlSeconds: number
  /** Data on the wire, in the order of their octets. */
  readonly values: readonly Uint8Array[]
}

export interface TxtSnapshot {
  /** Rises with every change, equal on all nodes that have these records. */
  readonly revision: number
  /** In the order of RFC 4034 section 6.1. */
  readonly records: readonly TxtRrset[]
}

export function txtSnapshot(revision: number, stored: Iterable<StoredTxtRecord>): TxtSnapshot {
  const byName = new Map<string, StoredTxtRecord[]>()
  for (const record of stored) {
    const known = byName.get(record.name)
    if (known === undefined) byName.set(record.name, [record])
    else known.push(record)
  }
  const rrsets = [...byName].flatMap(([text, records]) => {
    const name = parseName(text)
    return name.ok ? [{ key: canonicalKey(name.value), rrset: rrsetOf(name.value, records) }] : []
  })
  rrsets.sort((a, b) => (a.key < b.key ? -1 : 1))
  return { revision, records: rrsets.map(({ rrset }) => rrset) }
}

function rrsetOf(name: Uint8Array, records: readonly StoredTxtRecord[]): TxtRrset {
  return {
    name,
    ttlSeconds: Math.min(...records.map(({ ttlSeconds }) => ttlSeconds)),
    values: records.map(({ rdata }) => Buffer.from(rdata, 'base64')).sort((a, b) => a.compare(b)),
  }
}
