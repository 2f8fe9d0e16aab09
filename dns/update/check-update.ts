// Checks an UPDATE message against a zone, and lists its changes. RFC 2136 section 3.
import { QClass } from '#dns/header.ts'
import { isAtOrBelow } from '#dns/name.ts'
import { metaTypeMax, metaTypeMin, RrType } from '#dns/rrtype.ts'
import { canonicalRdata, rdataTypeOf } from '#dns/rdata/rdata-types.ts'
import type { UpdateMessage, UpdateRecord } from './read-update.ts'

/** RFC 2136 section 2.2. */
const UpdateRcode = {
  NoError: 0,
  FormErr: 1,
  NXDomain: 3,
  YXDomain: 6,
  YXRRSet: 7,
  NXRRSet: 8,
  NotAuth: 9,
  NotZone: 10,
} as const
type UpdateRcode = (typeof UpdateRcode)[keyof typeof UpdateRcode]

/** The view of the zones that checks need. Names are in wire form and lower case. */
export interface ZoneView {
  /** Whether this name is the apex of a zone that may be updated. */
  readonly isZone: (apex: Uint8Array) => boolean
  /** Whether the name has records of any type. */
  readonly isUsed: (name: Uint8Array) => boolean
  /** undefined: there is no such rrset. */
  readonly rdataOf: (name: Uint8Array, type: number) => readonly Uint8Array[] | undefined
  /** Whether records of this type may be added and deleted. */
  readonly takes: (type: number) => boolean
}

/** In the order of the message. */
export type ZoneUpdate =
  | {
      readonly verb: 'add'
      readonly name: Uint8Array
      readonly type: number
      /** In canonical form. */
      readonly rdata: Uint8Array
      readonly ttlSeconds: number
    }
  | {
      readonly verb: 'delete'
      readonly name: Uint8Array
      readonly type: number
      /** In canonical form. */
      readonly rdata: Uint8Array
    }
  | { readonly verb: 'delete-rrset'; readonly name: Uint8Array; readonly type: number }
  | { readonly verb: 'delete-all'; readonly name: Uint8Array }

type CheckedUpdate =
  | {
      readonly rcode: 0
      readonly changes: readonly ZoneUpdate[]
      /** Updates left out because they change nothing; `rcode` is 0 all the same. */
      readonly skipped: readonly UpdateRecord[]
    }
  | { readonly rcode: Exclude<UpdateRcode, 0> }

/**
 * Checks the zone, the prerequisites, then all updates before any is carried out. Updates of types
 * that are not taken are skipped.
 */
export function checkUpdate(message: UpdateMessage, view: ZoneView): CheckedUpdate {
  const { zone, zoneType, zoneClass, prerequisites, updates } = message
  if (zoneType !== RrType.SOA) return { rcode: UpdateRcode.FormErr }
  if (zoneClass !== QClass.In || !view.isZone(zone)) return { rcode: UpdateRcode.NotAuth }
  const rcode = faultOfPrerequisites(prerequisites, zone, view)
  if (rcode !== UpdateRcode.NoError) return { rcode }
  for (const record of updates) {
    if (!isAtOrBelow(record.owner, zone)) return { rcode: UpdateRcode.NotZone }
    if (!isWellFormed(record, view)) return { rcode: UpdateRcode.FormErr }
  }
  const changes = updates.flatMap((record) => changeOf(record, view))
  const skipped = updates.filter((record) => changeOf(record, view).length === 0)
  return { rcode: UpdateRcode.NoError, changes, skipped }
}

/** Section 3.2; rrsets with values are compared whole, after all others (section 3.2.3). */
function faultOfPrerequisites(
  prerequisites: readonly UpdateRecord[],
  zone: Uint8Array,
  view: ZoneView,
): UpdateRcode {
  const wanted = new Map<string, { owner: Uint8Array; type: number; values: Set<string> }>()
  for (const { owner, type, class: klass, ttlSeconds, rdata } of prerequisites) {
    if (ttlSeconds !== 0) return UpdateRcode.FormErr
    if (!isAtOrBelow(owner, zone)) return UpdateRcode.NotZone
    if (klass === QClass.In) {
      const key = `${type} ${textOf(owner)}`
      const rrset = wanted.get(key) ?? { owner, type, values: new Set<string>() }
      wanted.set(key, rrset)
      rrset.values.add(comparable(type, rdata))
      continue
    }
    if (klass !== QClass.Any && klass !== QClass.None) return UpdateRcode.FormErr
    if (rdata.length > 0) return UpdateRcode.FormErr
    const isThere =
      type === RrType.ANY ? view.isUsed(owner) : view.rdataOf(owner, type) !== undefined
    if (isThere === (klass === QClass.Any)) continue
    if (type === RrType.ANY) return isThere ? UpdateRcode.YXDomain : UpdateRcode.NXDomain
    return isThere ? UpdateRcode.YXRRSet : UpdateRcode.NXRRSet
  }
  for (const { owner, type, values } of wanted.values()) {
    const found = new Set(view.rdataOf(owner, type)?.map((rdata) => comparable(type, rdata)))
    if (found.size !== values.size || [...values].some((value) => !found.has(value))) {
      return UpdateRcode.NXRRSet
    }
  }
  return UpdateRcode.NoError
}

/** Names in rdata compare without letter case: RFC 2136 section 1.1.1. */
function comparable(type: number, rdata: Uint8Array): string {
  return textOf(canonicalRdata(rdataTypeOf(type), rdata))
}

/** RFC 2136 section 3.4.1.3. */
function isWellFormed(
  { type, class: klass, ttlSeconds, rdata }: UpdateRecord,
  { takes }: ZoneView,
): boolean {
  switch (klass) {
    case QClass.In:
      return !isMeta(type) && (!takes(type) || isRdata(type, rdata))
    case QClass.Any:
      return ttlSeconds === 0 && rdata.length === 0 && (type === RrType.ANY || !isMeta(type))
    case QClass.None:
      return ttlSeconds === 0 && !isMeta(type)
    default:
      return false
  }
}

function changeOf(
  { owner: name, type, class: klass, ttlSeconds, rdata }: UpdateRecord,
  { takes }: ZoneView,
): ZoneUpdate[] {
  if (type === RrType.ANY) return klass === QClass.Any ? [{ verb: 'delete-all', name }] : []
  if (!takes(type)) return []
  if (klass === QClass.Any) return [{ verb: 'delete-rrset', name, type }]
  const canonical = canonicalRdata(rdataTypeOf(type), rdata)
  if (klass === QClass.None) return [{ verb: 'delete', name, type, rdata: canonical }]
  // RFC 2181 section 8: the top bit set means zero.
  const ttl = ttlSeconds > 0x7fff_ffff ? 0 : ttlSeconds
  return [{ verb: 'add', name, type, rdata: canonical, ttlSeconds: ttl }]
}

/** OPT counts as a meta type: no zone holds it. */
function isMeta(type: number): boolean {
  return (type >= metaTypeMin && type <= metaTypeMax) || type === RrType.OPT
}

/** Whether the octets are data of the type. None is empty; DHCID begins with three octets. */
function isRdata(type: number, rdata: Uint8Array): boolean {
  const bytesMin = type === dhcid ? dhcidHeadBytes : 1
  return rdata.length >= bytesMin && rdataTypeOf(type).nameOffsets(rdata) !== undefined
}

/** Which DHCP client a name belongs to: RFC 4701 section 3.3. */
const dhcid = 49
const dhcidHeadBytes = 3

const textOf = (octets: Uint8Array): string => Buffer.from(octets).toString('latin1')
