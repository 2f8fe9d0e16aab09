// Prints a zone as a master file in canonical order. RFC 4034 sections 6.1 and 6.3.
import { canonicalKey, printName } from '#dns/rdata-text/name-text.ts'
import { canonicalRdata, rdataTypeOf } from '#dns/rdata/rdata-types.ts'
import { printGeneric } from '#dns/rdata-text/rdata-type.ts'
import { RrType } from '#dns/rrtype.ts'
import { anyReader } from './zone-readers.ts'
import type { ZoneReader } from './zone-readers.ts'
import type { ZoneRecord } from './zone-record.ts'

interface ZoneWriterOptions {
  /** Wire form of the zone's name. */
  readonly origin: Uint8Array
  /**
   * Applies to owners: relative ones need the $ORIGIN line at the head, printed with them. Names in
   * rdata are absolute, since not every reader makes them so for every type.
   */
  readonly names: 'relative' | 'absolute'
  /** The program that is to read the file; left out: any known one. */
  readonly reader?: ZoneReader
}

/** A `RecordList` or an array. */
export interface ZoneRecords {
  readonly length: number
  readonly at: (index: number) => ZoneRecord | undefined
}

/** @returns the lines of the file, each with its line end; equal records are printed once */
export function* zoneLines(
  records: ZoneRecords,
  { origin, names, reader = anyReader }: ZoneWriterOptions,
): Generator<string> {
  const base = names === 'relative' ? origin : undefined
  if (base !== undefined) yield `$ORIGIN ${printName(origin)}\n`
  const compare = comparison(records)
  let before: Sorted | undefined
  for (const sorted of sortedRows(records).sort(compare)) {
    if (before !== undefined && compare(before, sorted) === 0) continue
    before = sorted
    const { owner, ttl, type, rdata } = records.at(sorted.index)!
    const { name, print } = rdataTypeOf(type)
    const [typeText, text] = reader.unknownTypes.has(type)
      ? [`TYPE${type}`, printGeneric(rdata)]
      : [name, print(rdata, undefined, reader)]
    yield `${printName(owner, base, reader.needsBackslashes)}\t${ttl}\tIN\t${typeText}\t${text}\n`
  }
}

/** Sort keys of a record except its rdata, which is seldom compared. */
interface Sorted {
  readonly index: number
  readonly key: string
  readonly rank: number
}

function sortedRows(records: ZoneRecords): Sorted[] {
  const rows: Sorted[] = []
  let owner: Uint8Array = new Uint8Array(0)
  let key = ''
  for (let index = 0; index < records.length; index++) {
    const record = records.at(index)!
    if (compareOctets(record.owner, owner) !== 0) {
      owner = record.owner
      key = canonicalKey(owner)
    }
    rows.push({ index, key, rank: rank(record.type) })
  }
  return rows
}

function comparison(records: ZoneRecords) {
  const canonical = (index: number): Uint8Array => {
    const { type, rdata } = records.at(index)!
    return canonicalRdata(rdataTypeOf(type), rdata)
  }
  return (a: Sorted, b: Sorted): number => {
    if (a.key !== b.key) return a.key < b.key ? -1 : 1
    if (a.rank !== b.rank) return a.rank - b.rank
    return compareOctets(canonical(a.index), canonical(b.index))
  }
}

/** The SOA comes first: readers take the zone's name from it. */
const rank = (type: number): number => (type === RrType.SOA ? 0 : type)

/** Compares unsigned octets, a prefix before its extensions. RFC 4034 section 6.3. */
function compareOctets(a: Uint8Array, b: Uint8Array): number {
  const length = Math.min(a.length, b.length)
  for (let i = 0; i < length; i++) {
    if (a[i] !== b[i]) return a[i]! - b[i]!
  }
  return a.length - b.length
}
