// Prints a zone as a master file in canonical order. RFC 4034 sections 6.1 and 6.3.
import { canonicalKey, printName } from '#dns/rdata-text/name-text.ts'
import { canonicalRdata, rdataTypeOf } from '#dns/rdata/rdata-types.ts'
import { RrType } from '#dns/rrtype.ts'
import type { ZoneRecord } from './zone-record.ts'

export interface ZoneWriterOptions {
  /** Wire form of the zone's name. */
  readonly origin: Uint8Array
  /** Relative names need the $ORIGIN line at the head, which is printed with them. */
  readonly names: 'relative' | 'absolute'
}

/** @returns the lines of the file, each with its line end; equal records are printed once */
export function* zoneLines(
  records: readonly ZoneRecord[],
  { origin, names }: ZoneWriterOptions,
): Generator<string> {
  const base = names === 'relative' ? origin : undefined
  if (base !== undefined) yield `$ORIGIN ${printName(origin)}\n`
  let before: Sorted | undefined
  for (const sorted of inCanonicalOrder(records)) {
    if (before !== undefined && compare(before, sorted) === 0) continue
    before = sorted
    const { owner, ttl, type, rdata } = sorted.record
    const { name, print } = rdataTypeOf(type)
    yield `${printName(owner, base)}\t${ttl}\tIN\t${name}\t${print(rdata, base)}\n`
  }
}

interface Sorted {
  readonly record: ZoneRecord
  readonly key: string
  readonly rdata: Uint8Array
}

function inCanonicalOrder(records: readonly ZoneRecord[]): Sorted[] {
  const keys = new Map<Uint8Array, string>()
  return records
    .map((record) => {
      const key = keys.get(record.owner) ?? canonicalKey(record.owner)
      keys.set(record.owner, key)
      return { record, key, rdata: canonicalRdata(rdataTypeOf(record.type), record.rdata) }
    })
    .sort(compare)
}

function compare(a: Sorted, b: Sorted): number {
  if (a.key !== b.key) return a.key < b.key ? -1 : 1
  const [typeA, typeB] = [rank(a.record.type), rank(b.record.type)]
  return typeA !== typeB ? typeA - typeB : compareOctets(a.rdata, b.rdata)
}

/** The SOA comes first of all: readers take the zone's name from it. */
const rank = (type: number): number => (type === RrType.SOA ? 0 : type)

/** As numbers without sign, a beginning before what goes on. RFC 4034 section 6.3. */
function compareOctets(a: Uint8Array, b: Uint8Array): number {
  const length = Math.min(a.length, b.length)
  for (let i = 0; i < length; i++) {
    if (a[i] !== b[i]) return a[i]! - b[i]!
  }
  return a.length - b.length
}
