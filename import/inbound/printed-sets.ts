// Prints transferred records as record sets of files, except records that a zone here generates
// itself or cannot have.
import { enclosingNames } from '#dns/enclosing-names.ts'
import { foldName, formatName } from '#dns/name.ts'
import { printName } from '#dns/rdata-text/name-text.ts'
import { parseRdata, rdataTypeNamed, rdataTypeOf } from '#dns/rdata/rdata-types.ts'
import { RrType } from '#dns/rrtype.ts'
import type { ZoneRecord } from '#dns/zone-file/zone-record.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { itemsPerStep } from '#lib/thread/slices.ts'
import { byCodeUnits } from '#lib/sequence/order.ts'
import { recordTtlDefault } from '#schemas/objects/records.ts'
import type { RecordSet } from '#schemas/objects/records.ts'
import { InboundSet } from './inbound-set.ts'

/** The key of a set: its name and type as files have them. */
export type SetKey = string

export const keyOf = ({ name, type }: Pick<RecordSet, 'name' | 'type'>): SetKey => `${name} ${type}`

/**
 * Types that are left out. By their numbers: SIG 24, KEY 25, NXT 30, NSEC3 50, NSEC3PARAM 51; BIND
 * keeps in 65534 how far it has signed.
 */
const signingTypes: ReadonlySet<number> = new Set([
  ...[24, 25, 30, RrType.RRSIG, RrType.NSEC, RrType.DNSKEY, 50, 51],
  ...[RrType.CDS, RrType.CDNSKEY, RrType.ZONEMD, 65_534],
])

const asterisk = 0x2a
const oddWildcards: readonly number[] = [RrType.NS, RrType.DNAME, RrType.DS]

/**
 * Whether a record is of the zone's own servers, SOA or signatures, which gslb.yaml declares, or at
 * a wildcard that no zone here can have.
 */
export function isLeftOut({ owner, type }: ZoneRecord, zone: Uint8Array): boolean {
  if (type === RrType.SOA || signingTypes.has(type)) return true
  // RFC 4592 sections 4.2, 4.4 and 4.6: their meaning at a wildcard is undefined.
  if (owner[0] === 1 && owner[1] === asterisk && oddWildcards.includes(type)) return true
  return type === RrType.NS && owner.length === zone.length
}

interface GroupedZone {
  readonly sets: Map<SetKey, InboundSet>
  /** Whether the primary server signs it. */
  readonly isSigned: boolean
}

/** Errors: what the zone has that cannot be had here; nothing is read after it. */
export function* groupedZone(
  records: Iterable<ZoneRecord>,
  zone: Uint8Array,
): Generator<undefined, Result<GroupedZone, string>> {
  const sets = new Map<SetKey, InboundSet>()
  let isSigned = false
  let count = 0
  for (const record of records) {
    if (++count % itemsPerStep === 0) yield
    // RFC 4034 section 2: elsewhere it is no key of the zone.
    isSigned ||= record.type === RrType.DNSKEY && record.owner.length === zone.length
    const fault = isLeftOut(record, zone) ? undefined : addTo(sets, record, zone)
    if (fault !== undefined) return err(fault)
  }
  yield* dropHidden(sets, zone)
  return ok({ sets, isSigned })
}

/** @returns undefined; or which set cannot be had, and why */
export function addTo(
  sets: Map<SetKey, InboundSet>,
  record: ZoneRecord,
  zone: Uint8Array,
): string | undefined {
  const name = printName(record.owner, zone)
  const key = keyOf({ name, type: rdataTypeOf(record.type).name })
  let set = sets.get(key)
  if (set === undefined) sets.set(key, (set = new InboundSet(name, record)))
  set.ttl = Math.min(set.ttl, record.ttl)
  const fault = set.add(record.rdata)
  return fault === undefined ? undefined : `${key}: ${fault}`
}

/** Below a cut only glue belongs to the zone (RFC 1034 section 4.2.1), below a DNAME nothing. */
function* dropHidden(sets: Map<SetKey, InboundSet>, zone: Uint8Array): Generator<undefined, void> {
  const [cuts, dnames, servers] = [new Set<string>(), new Set<string>(), new Set<string>()]
  let count = 0
  for (const { owner, type, rdata } of sets.values()) {
    if (++count % itemsPerStep === 0) yield
    if (type === RrType.NS) {
      cuts.add(formatName(owner))
      for (const server of rdata) servers.add(formatName(foldName(server)))
    } else if (type === RrType.DNAME) dnames.add(formatName(owner))
  }
  if (cuts.size + dnames.size === 0) return
  const top = formatName(zone)
  for (const [key, { owner, type }] of sets) {
    if (++count % itemsPerStep === 0) yield
    const name = formatName(owner)
    const above = name === top ? [] : [...enclosingNames(name)].filter((one) => isIn(one, top))
    const isGlue = (type === RrType.A || type === RrType.AAAA) && servers.has(name)
    const isOfCut = type === RrType.NS || type === RrType.DS
    const isBelow = above.some((one) => cuts.has(one))
    const isHidden =
      above.some((one) => dnames.has(one)) ||
      (isBelow && !isGlue) ||
      (cuts.has(name) && !isOfCut && !isGlue)
    if (isHidden) sets.delete(key)
  }
}

const isIn = (name: string, top: string): boolean =>
  top === '.' || name === top || name.endsWith(`.${top}`)

export function printedSet({ name, type, ttl, rdata }: InboundSet, zone: Uint8Array): RecordSet {
  const { name: typeName, print } = rdataTypeOf(type)
  const values = rdata.map((one) => print(one, zone))
  if (values.length > 1) values.sort(byCodeUnits)
  if (ttl === recordTtlDefault) return { name, type: typeName, values }
  return { name, type: typeName, ttl, values }
}

/** @param owner of the set; undefined: a value cannot be read, so a person has changed it */
export function readSet(
  { name, type, ttl, values }: RecordSet,
  owner: Uint8Array,
  zone: Uint8Array,
): InboundSet | undefined {
  const form = rdataTypeNamed(type)
  if (form === undefined) return undefined
  const set = new InboundSet(name, { owner, type: form.code, ttl: ttl ?? recordTtlDefault })
  for (const value of values) {
    const read = parseRdata(form, value, zone)
    if (!read.ok || set.add(read.value) !== undefined) return undefined
  }
  return set
}
