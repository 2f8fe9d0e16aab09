// Parses the records of one file: names and rdata in wire form, each fault at its place.
import { parseAddress } from '#dns/address.ts'
import { foldName, formatName, isAtOrBelow, nameLimits, parseName } from '#dns/name.ts'
import { readName } from '#dns/rdata-text/name-text.ts'
import { nameField } from '#dns/rdata-text/field.ts'
import { rdataType } from '#dns/rdata-text/rdata-type.ts'
import type { RdataType } from '#dns/rdata-text/rdata-type.ts'
import { tokensOf } from '#dns/rdata-text/tokens.ts'
import type { RdataFault, RdataText } from '#dns/rdata-text/tokens.ts'
import { ValueReader } from '#dns/rdata-text/value-reader.ts'
import { canonicalRdata, rdataTypeNamed } from '#dns/rdata/rdata-types.ts'
import { rdataTypeOf, rdataTypes } from '#dns/rdata/rdata-types.ts'
import { RrType } from '#dns/rrtype.ts'
import { suggest } from '#lib/suggest.ts'
import type { RecordSet, RecordsSpec } from '#schemas/objects/records.ts'
import { valueAt } from '#diagnostics/diagnostic.ts'
import type { Place } from '#diagnostics/diagnostic.ts'
import type { FindingDetail, Report } from '#diagnostics/finding.ts'
import type { DiagnosticCode } from '#diagnostics/diagnostics.ts'
import { RdataOctets, ReadRrset } from './read-rrset.ts'
import { rdataExample } from './rdata-examples.ts'
import { checkName } from './names.ts'
import { isInside } from '#dns/enclosing-names.ts'

/** The code of ALIAS, above the 16 bits of a type: no record of a message can have it. */
export const aliasCode = 0x1_0000

const aliasRecord: RdataType = rdataType({
  name: 'ALIAS',
  code: aliasCode,
  fields: [nameField('the name whose addresses this one has')],
  namesFold: true,
})

/** The record type that a file names. */
export function recordTypeNamed(text: string): RdataType | undefined {
  return text.toUpperCase() === aliasRecord.name ? aliasRecord : rdataTypeNamed(text)
}

export function recordTypeOf(code: number): RdataType {
  return code === aliasCode ? aliasRecord : rdataTypeOf(code)
}

interface ReadRecords {
  /** In the form of its rrsets' names; undefined: not a name. */
  readonly zone: string | undefined
  readonly rrsets: readonly ReadRrset[]
  /** False: for some records not even name and type are known. */
  readonly isWhole: boolean
  readonly faults: readonly RecordFault[]
}

interface RecordFault {
  readonly code: DiagnosticCode
  readonly place: Place
  readonly detail: FindingDetail
}

/** Cached: many rules read a file with thousands of records. */
const known = new WeakMap<RecordsSpec, ReadRecords>()

/** @param report receives each fault as soon as it is found */
export function readRecords(spec: RecordsSpec, report?: Report): ReadRecords {
  const before = known.get(spec)
  if (before !== undefined) {
    for (const { code, place, detail } of before.faults) report?.(code, place, detail)
    return before
  }
  const faults: RecordFault[] = []
  const say: Report = (code, place, detail = {}) => {
    faults.push({ code, place, detail })
    report?.(code, place, detail)
  }
  const rrsets: ReadRrset[] = []
  const octets = new RdataOctets()
  const { key: zone, fault } = checkName(spec.zone, false)
  if (fault !== undefined) say(fault.code, valueAt('spec', 'zone'), fault)
  const origin = zone === undefined ? undefined : parseName(zone)
  if (zone !== undefined && origin?.ok === true) {
    let last: RecordSet | undefined
    for (const [index, set] of spec.records.entries()) {
      const faultsBefore = faults.length
      const ownerOfLast = set.name === last?.name ? rrsets.at(-1)?.name : undefined
      const reading = { set, index, zone, origin: origin.value, spec, octets, report: say }
      const rrset = readRrset(reading, ownerOfLast)
      if (rrset !== undefined) rrsets.push(rrset)
      // A finding about a name applies to each of its sets, so it is read again.
      last = faults.length === faultsBefore ? set : undefined
    }
  }
  octets.end()
  const isWhole = rrsets.length === spec.records.length
  const read = { zone, rrsets, isWhole, faults }
  known.set(spec, read)
  return read
}

interface Reading {
  readonly set: RecordSet
  readonly index: number
  readonly zone: string
  /** Wire form of the zone's name. */
  readonly origin: Uint8Array
  readonly spec: RecordsSpec
  readonly octets: RdataOctets
  readonly report: Report
}

/** @param ownerOfLast owner of the previous set, when it has the same name */
function readRrset(reading: Reading, ownerOfLast: string | undefined): ReadRrset | undefined {
  const { set, index, spec, octets, report } = reading
  const name = ownerOfLast ?? ownerOf(reading)
  const type = recordTypeNamed(set.type)
  if (type === undefined) reportType(set, index, report)
  if (name === undefined || type === undefined) return undefined
  const ttlSeconds = set.ttl ?? spec.ttl
  return new ReadRrset({ index, name, type, ttlSeconds }, readValues(reading, type), octets)
}

/** A place in a record set. */
export function recordPlace(index: number, ...path: readonly (string | number)[]): Place {
  return valueAt('spec', 'records', index, ...path)
}

/** @param column from 1 */
function columnIn(place: Place, column: number): Place {
  return { ...place, character: column - 1 }
}

/** Lower-case labels, as nearly all names have. */
const usualOwner = /^[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*$/

function ownerOf({ set, index, zone, origin, report }: Reading): string | undefined {
  const { name: text } = set
  const isShort = text.length + 1 + origin.length <= nameLimits.bytesMax
  if (isShort && usualOwner.test(text) && !isDoubled(zone, text)) {
    return `${text}.${zone}`
  }
  const place = (): Place => recordPlace(index, 'name')
  const read = readOwner(text, origin)
  if ('expected' in read) {
    report('record-name-invalid', columnIn(place(), read.column), { args: [text, read.expected] })
    return undefined
  }
  const wire = foldName(read.wire)
  if (!isAtOrBelow(wire, origin)) {
    report('record-outside-zone', place(), { args: [text, zone] })
    return undefined
  }
  const name = formatName(wire)
  // Probably a whole name without its final dot.
  if (isDoubled(zone, text)) {
    report('record-name-doubled', place(), { args: [name, `${text}.`], suggestion: `${text}.` })
  }
  return name
}

function readOwner(text: string, origin: Uint8Array): { readonly wire: Uint8Array } | RdataFault {
  const values = new ValueReader({ tokens: [], endColumn: 1 }, origin)
  const wire = readName(values, { text, isQuoted: false, column: 1 }, 'a name')
  return wire === undefined ? values.fault! : { wire }
}

/**
 * Key of the set that a record belongs to. Invalid names and types, which rules report, are kept as
 * they are.
 */
export function rrsetOf(
  zone: string,
  name: string,
  type: string,
): { readonly name: string; readonly code: number } {
  return { name: fullName(zone, name) ?? name, code: recordTypeNamed(type)?.code ?? 0 }
}

/** The name of a type, if it has one: `TYPE1` is `A` (RFC 3597 section 5). */
export function typeName(text: string): string {
  const upper = text.toUpperCase()
  return upper.startsWith('TYPE') ? (recordTypeNamed(upper)?.name ?? upper) : upper
}

/** In the form of `ReadRrset.name`; undefined where the text is not a name. */
export function fullName(zone: string, text: string): string | undefined {
  const origin = parseName(zone.toLowerCase())
  if (!origin.ok) return undefined
  const read = readOwner(text, origin.value)
  return 'expected' in read ? undefined : formatName(foldName(read.wire))
}

/** The short form of a name in a file of the zone. @param name as `ReadRrset.name` */
export function nameInZone(zone: string, name: string): string {
  if (name === zone) return '@'
  return isInside(name, zone) ? name.slice(0, -zone.length - 1) : name
}

/** Whether a name has its zone twice, because its final dot was forgotten. */
export function isDoubled(zone: string, text: string): boolean {
  if (text.length + 1 < zone.length) return false
  return !text.endsWith('.') && `.${text.toLowerCase()}.`.endsWith(`.${zone}`)
}

/** Other providers' names for a record that answers with the addresses of another name. */
const aliasNames: readonly string[] = ['ANAME']

function reportType({ type: text, values }: RecordSet, index: number, report: Report): void {
  if (aliasNames.includes(text.toUpperCase())) {
    const args = [text.toUpperCase(), values[0] ?? '']
    report('record-type-alias', recordPlace(index, 'type'), { args })
    return
  }
  const names = rdataTypes.map(({ name }) => name)
  const suggestion = suggest(text.toUpperCase(), names)
  report('record-type-unknown', recordPlace(index, 'type'), { args: [text], suggestion })
}

/** Strings that readers join without a blank: RFC 7208 section 3.3 and others. */
const textTypes: readonly number[] = [RrType.TXT, 99]

/** Shared: most sets have one value, and a million lists would waste memory. */
const onlyFirst: readonly number[] = Object.freeze([0])

interface ReadValue {
  readonly rdata: Uint8Array
  readonly i: number
}

function readValues(reading: Reading, type: RdataType): Pick<ReadRrset, 'rdata' | 'from'> {
  const { set, index, report } = reading
  const right = rightValues(reading, type)
  if (right.length === 1 && right[0]!.i === 0) return { rdata: [right[0]!.rdata], from: onlyFirst }
  const sorted = right.map((value) => {
    const canonical = canonicalRdata(type, value.rdata)
    return { ...value, canonical: bufferOf(canonical) }
  })
  sorted.sort((a, b) => Buffer.compare(a.canonical, b.canonical) || a.i - b.i)
  const unlike = sorted.filter(({ canonical, i }, at) => {
    const twin = sorted[at - 1]
    if (twin === undefined || !canonical.equals(twin.canonical)) return true
    const other = recordPlace(index, 'values', twin.i)
    const args = [set.values[i]!]
    report('record-value-duplicate', recordPlace(index, 'values', i), { args, other })
    return false
  })
  const from = unlike.length === 1 && unlike[0]!.i === 0 ? onlyFirst : unlike.map(({ i }) => i)
  return { rdata: unlike.map(({ rdata }) => rdata), from }
}

function rightValues({ set, index, origin, report }: Reading, type: RdataType): ReadValue[] {
  const right: ReadValue[] = []
  for (const [i, text] of set.values.entries()) {
    const tokens = tokensOf(text)
    const read = tokens.ok ? type.parse(tokens.value, origin) : tokens
    if (!read.ok) {
      const { column, expected } = read.error
      const args = [type.name, String(column), expected, rdataExample(type)]
      report('record-value-invalid', columnIn(recordPlace(index, 'values', i), column), { args })
      continue
    }
    if (tokens.ok && textTypes.includes(type.code) && isUnquoted(tokens.value)) {
      const whole = `'"${text.replaceAll(/\\?"/g, '').replaceAll("'", "''")}"'`
      const args = [String(tokens.value.tokens.length), whole]
      report('record-text-unquoted', recordPlace(index, 'values', i), { args })
    } else right.push({ rdata: read.value, i })
  }
  return right
}

function bufferOf(octets: Uint8Array): Buffer {
  return Buffer.from(octets.buffer, octets.byteOffset, octets.byteLength)
}

const isUnquoted = ({ tokens }: RdataText): boolean =>
  tokens.length > 1 && !tokens.every(({ isQuoted }) => isQuoted)

/** Octets before the host name, by type. RFC 1035 section 3.3, RFC 2782. */
const hostAt: Readonly<Record<number, number>> = Object.freeze({
  [RrType.NS]: 0,
  [RrType.MX]: 2,
  [RrType.SRV]: 6,
  [aliasCode]: 0,
})

/** Whether records of the type contain a host name. */
export function namesHost(type: number): boolean {
  return Object.hasOwn(hostAt, type)
}

/**
 * @param type one that contains a host name
 * @returns lower case, presentation form, final dot
 */
export function hostIn(type: number, rdata: Uint8Array): string {
  return formatName(foldName(rdata.subarray(hostAt[type] ?? 0)))
}

/** Whether a name is just `192.0.2.1` or `2001:db8::1`, absolute or relative to its zone. */
export function isAddressName(name: string, zone: string): boolean {
  const isRelative = name.endsWith(`.${zone}`)
  const text = isRelative ? name.slice(0, -zone.length - 1) : name.slice(0, -1)
  return parseAddress(text).ok
}
