// Sets of records as texts in one canonical form, so that what one server says can be compared with
// what another one has.
import { createHash } from 'node:crypto'
import type { RdataType } from '#dns/rdata-text/rdata-type.ts'
import { printName } from '#dns/rdata-text/name-text.ts'
import { canonicalRdata, parseRdata, rdataTypeNamed, rdataTypeOf } from '#dns/rdata/rdata-types.ts'
import { foldName, parseName, sameOctets } from '#dns/name.ts'
import type { ZoneRecord } from '#dns/zone-file/zone-record.ts'

export interface RecordSet {
  /** Absolute, in lower case. */
  readonly owner: string
  /** Such as `MX`. */
  readonly type: string
  readonly ttlSeconds: number
  /** In canonical presentation form, sorted; each once. */
  readonly values: readonly string[]
}

export const setKey = ({ owner, type }: Pick<RecordSet, 'owner' | 'type'>): string =>
  `${owner} ${type}`

/** Stands for a record without its TTL where it is stored that it is ours: 128 bits in hex. */
export const recordKey = (set: Pick<RecordSet, 'owner' | 'type'>, value: string): string =>
  createHash('sha256')
    .update(`${setKey(set)} ${value}`)
    .digest('hex')
    .slice(0, recordKeyCharacters)

const recordKeyCharacters = 32

export function keysOf(
  sets: readonly Pick<RecordSet, 'owner' | 'type' | 'values'>[],
): ReadonlySet<string> {
  return new Set(sets.flatMap((set) => set.values.map((value) => recordKey(set, value))))
}

/** By `setKey`; a set has the least TTL of its records. */
export function setsOf(records: Iterable<ZoneRecord>): ReadonlyMap<string, RecordSet> {
  const sets = new Map<string, { set: RecordSet; values: Set<string> }>()
  for (const { owner: wire, type: code, ttl, rdata } of records) {
    const type = rdataTypeOf(code)
    const owner = printName(foldName(wire))
    const key = setKey({ owner, type: type.name })
    const { set, values } = sets.get(key) ?? {
      set: { owner, type: type.name, ttlSeconds: ttl, values: [] },
      values: new Set<string>(),
    }
    values.add(printed(type, rdata))
    const ttlSeconds = Math.min(set.ttlSeconds, ttl)
    sets.set(key, { set: { ...set, ttlSeconds }, values })
  }
  return new Map(
    [...sets].map(([key, { set, values }]) => [key, { ...set, values: sorted(values) }]),
  )
}

/** Data as the server has it. @returns undefined: it is the canonical form of the value */
export type Spellings = (
  set: Pick<RecordSet, 'owner' | 'type'>,
  value: string,
) => Uint8Array | undefined

/** For records whose names have letters in upper case, such as `10 Mail.example.com.` */
export function spellings(records: Iterable<ZoneRecord>): Spellings {
  const found = new Map<string, Uint8Array>()
  for (const { owner, type: code, rdata } of records) {
    const type = rdataTypeOf(code)
    if (sameOctets(canonicalRdata(type, rdata), rdata)) continue
    const set = { owner: printName(foldName(owner)), type: type.name }
    found.set(`${setKey(set)} ${printed(type, rdata)}`, rdata)
  }
  return (set, value) => found.get(`${setKey(set)} ${value}`)
}

export const sorted = (values: Iterable<string>): readonly string[] => [...values].sort()

/** @returns undefined: it is no value of this type, or the type is not known */
export function canonicalValue(typeName: string, text: string): string | undefined {
  const type = rdataTypeNamed(typeName)
  const rdata = type && parseRdata(type, text)
  return type !== undefined && rdata?.ok === true ? printed(type, rdata.value) : undefined
}

/** Absolute and in lower case. @returns undefined: it is no name */
export function canonicalName(text: string): string | undefined {
  const wire = parseName(text)
  return wire.ok ? printName(foldName(wire.value)) : undefined
}

const printed = (type: RdataType, rdata: Uint8Array): string =>
  type.print(canonicalRdata(type, rdata))
