// All records of a zone, as a transfer shows them to another server. RFC 5936 sections 2.2 and 3.
import { findRrset, isSigned, memberOctets, nodeFlags, wireNameOf } from '#bundle/format/bundle.ts'
import { rrsetCount, serviceOfNode, zoneOfNode } from '#bundle/format/bundle.ts'
import type { Bundle } from '#bundle/format/bundle.ts'
import { MemberFlag, NodeCell, NodeFlag } from '#bundle/format/cells.ts'
import { glueBit, rdataForms, rdataLayout, RrsetCell, storedName } from '#bundle/format/rrsets.ts'
import { hostnameOfMember } from '#bundle/format/hostnames.ts'
import { isAtOrBelow, parseName, sameOctets } from '#dns/name.ts'
import { RrType } from '#dns/rrtype.ts'
import { assert } from '#lib/assert.ts'
import { findWritten } from '#answer/dynamic.ts'
import { findStored } from '#bundle/load/find-node.ts'
import { nodesPerTurn } from './limits.ts'
import type { ZoneContent, ZoneSource } from './zone-source.ts'

export interface ZoneRecord {
  /** Wire form. */
  readonly owner: Uint8Array
  readonly type: number
  readonly ttlSeconds: number
  /** As on the wire, names not compressed. */
  readonly rdata: Uint8Array
}

/** null: nothing to show yet, and a moment for other work of the thread. */
export type ZoneStep = ZoneRecord | null

/** Octets from the end of SOA data back to its serial. RFC 1035 section 3.3.13. */
const serialFromEnd = 20

/** @param zone row in `zoneNode` */
export function soaRecord({ bundle, serial }: ZoneSource, zone: number): ZoneRecord {
  const apex = bundle.zoneNode[zone]!
  const [record] = rrsetRecords(bundle, apex, findRrset(bundle, apex, RrType.SOA), zone)
  const rdata = Buffer.from(record!.rdata)
  const at = rdata.length - serialFromEnd
  rdata.writeUInt32BE((rdata.readUInt32BE(at) + serial) >>> 0, at)
  return { ...record!, rdata }
}

/** @param rdata of a SOA record */
export function serialOf(rdata: Uint8Array): number {
  const at = rdata.length - serialFromEnd
  return (
    ((rdata[at]! << 24) | (rdata[at + 1]! << 16) | (rdata[at + 2]! << 8) | rdata[at + 3]!) >>> 0
  )
}

/**
 * SOA first and last; between them what any client might get, whatever the health of members: the
 * addresses of all that are enabled. Between two steps the source may change its memory.
 */
export function* zoneRecords(source: ZoneSource, zone: number): Generator<ZoneStep> {
  const soa = soaRecord(source, zone)
  yield soa
  const nodes = source.bundle.nodeRow.length / NodeCell.Words
  let skipped = 0
  for (let node = 0; node < nodes; node++) {
    if (zoneOfNode(source.bundle, node) === zone) yield* nodeRecords(source, node, zone)
    else if (++skipped % nodesPerTurn === 0) yield null
  }
  for (let child = 0; child < source.bundle.zoneNode.length; child++) {
    if (++skipped % nodesPerTurn === 0) yield null
    if (source.bundle.zoneParent[child] === zone) yield* delegation(source, child)
  }
  yield* dynamicRecords(source, soa.owner)
  yield soa
}

/** The records of a node but SOA, and TXT where there are some that were written at run time. */
export function* nodeRecords(
  content: ZoneContent,
  node: number,
  zone: number,
): Generator<ZoneRecord> {
  const rrsets = rrsetCount(content.bundle, node)
  for (let i = 0; i < rrsets; i++) {
    const { bundle, dynamic } = content
    const rrset = cellOf(bundle, node, NodeCell.FirstRrset) + i
    const type = typeOf(bundle, rrset)
    if (type === RrType.SOA) continue
    // The dynamic rrset of the name has the static records, too.
    const isReplaced = type === RrType.TXT && dynamic !== undefined
    if (isReplaced && findWritten(dynamic, bundle, node, type) >= 0) continue
    yield* rrsetRecords(bundle, node, rrset, zone)
  }
  yield* serviceRecords(content.bundle, node)
}

/**
 * The addresses of all enabled members of a service's pool; none of other nodes.
 *
 * @param isLeftOut asked of each enabled member; where all would be, none is
 */
export function serviceRecords(
  bundle: Bundle,
  node: number,
  isLeftOut?: (member: number) => boolean,
): ZoneRecord[] {
  if (isLeftOut !== undefined) {
    const some = recordsOfMembers(bundle, node, isLeftOut)
    if (some.length > 0) return some
  }
  return recordsOfMembers(bundle, node, () => false)
}

function recordsOfMembers(
  bundle: Bundle,
  node: number,
  isLeftOut: (member: number) => boolean,
): ZoneRecord[] {
  const pool = serviceOfNode(bundle, node) < 0 ? -1 : cellOf(bundle, node, NodeCell.Pool) - 1
  if (pool < 0) return []
  const owner = nameOf(bundle, node)
  const ttlSeconds = cellOf(bundle, node, NodeCell.TtlSeconds)
  const start = bundle.poolMemberStart[pool]!
  const end = start + bundle.poolCount4[pool]! + bundle.poolCount6[pool]!
  const records: ZoneRecord[] = []
  const seen = new Set<string>()
  for (let member = start; member < end; member++) {
    const flags = bundle.memberFlags[member]!
    // What a host name resolves to is this node's alone, and changes without a serial.
    if ((flags & MemberFlag.Enabled) === 0 || (flags & MemberFlag.Resolved) !== 0) continue
    if (isLeftOut(member)) continue
    if ((flags & MemberFlag.Alias) !== 0) {
      // RFC 2181 section 10.1: a name has one CNAME.
      return [{ owner, type: RrType.CNAME, ttlSeconds, rdata: aliasTarget(bundle, member) }]
    }
    const rdata = new Uint8Array(memberOctets(bundle, member))
    // Two members of an address are one record.
    const key = Buffer.from(rdata).toString('latin1')
    if (seen.has(key)) continue
    seen.add(key)
    const type = rdata.length === 4 ? RrType.A : RrType.AAAA
    records.push({ owner, type, ttlSeconds, rdata })
  }
  return records
}

function aliasTarget(bundle: Bundle, member: number): Uint8Array {
  const name = parseName(hostnameOfMember(bundle, member) ?? '.')
  assert(name.ok, 'the loader has checked the names of members')
  return name.value
}

/** At the apex of a zone of ours, its parent shows where it begins, and how to get there. */
export function delegation({ bundle }: ZoneContent, child: number): ZoneRecord[] {
  const apex = bundle.zoneNode[child]!
  const rrset = findRrset(bundle, apex, RrType.NS)
  if (rrset < 0) return []
  const records = rrsetRecords(bundle, apex, rrset, child)
  for (const node of glueOf(bundle, apex, rrset)) {
    for (const type of [RrType.A, RrType.AAAA]) {
      const addresses = findRrset(bundle, node, type)
      if (addresses >= 0) records.push(...rrsetRecords(bundle, node, addresses, child))
    }
  }
  return records
}

/** Nodes that the name servers of an rrset are, at or below its owner, which is an apex. */
export function glueOf(bundle: Bundle, apex: number, rrset: number): number[] {
  const nodes: number[] = []
  const owner = nameOf(bundle, apex)
  for (const { start } of storedRdata(bundle, rrset)) {
    const view = new DataView(bundle.rrsetData.buffer, bundle.rrsetData.byteOffset)
    // No answer needs the bit at an apex, and so it is not set there.
    const target = view.getUint32(start) & ~glueBit
    const node = target === 0 ? -1 : bundle.targetNode[target - 1]!
    if (node >= 0 && isAtOrBelow(nameOf(bundle, node), owner)) nodes.push(node)
  }
  return nodes
}

export function rrsetRecords(
  bundle: Bundle,
  node: number,
  rrset: number,
  zone: number,
): ZoneRecord[] {
  const owner = nameOf(bundle, node)
  const type = typeOf(bundle, rrset)
  const ttlSeconds = bundle.rrsetRow[rrset * RrsetCell.Words + RrsetCell.TtlSeconds]!
  const apex = nameOf(bundle, bundle.zoneNode[zone]!)
  return storedRdata(bundle, rrset).map(({ start, end }) => {
    const rdata = wholeRdata(new Uint8Array(bundle.rrsetData.subarray(start, end)), type, apex)
    return { owner, type, ttlSeconds, rdata }
  })
}

function storedRdata(bundle: Bundle, rrset: number): { start: number; end: number }[] {
  const { rrsetData, rrsetRow } = bundle
  const row = rrset * RrsetCell.Words
  const places: { start: number; end: number }[] = []
  let at = rrsetRow[row + RrsetCell.Data]!
  for (let i = rrsetRow[row + RrsetCell.Count]!; i > 0; i--) {
    const start = at + rdataLayout.lengthBytes
    at = start + (rrsetData[at]! << 8) + rrsetData[at + 1]!
    places.push({ start, end: at })
  }
  return places
}

/** Stored names become whole ones. */
function wholeRdata(stored: Uint8Array, type: number, apex: Uint8Array): Uint8Array {
  const form = rdataForms[type]
  if (form === undefined) return stored
  let at = form.hasTarget ? rdataLayout.targetBytes : 0
  const parts = [stored.subarray(at, at + form.before)]
  at += form.before
  for (let i = 0; i < form.names; i++) {
    const end = at + storedName.labels + stored[at]!
    parts.push(stored.subarray(at + storedName.labels, end))
    parts.push(stored[at + storedName.endsAtApex] === 1 ? apex : root)
    at = end
  }
  parts.push(stored.subarray(at))
  return Buffer.concat(parts)
}

const root = Uint8Array.of(0)

/** Records that were written at run time; their bundle numbers zones in its own way. */
function* dynamicRecords(source: ZoneSource, apex: Uint8Array): Generator<ZoneStep> {
  const nodes = (source.dynamic?.nodeRow.length ?? 0) / NodeCell.Words
  for (let node = 0; node < nodes; node++) {
    if ((node + 1) % nodesPerTurn === 0) yield null
    const { dynamic } = source
    if (dynamic === undefined) continue
    const zone = zoneOfNode(dynamic, node)
    const isHere = sameOctets(nameOf(dynamic, dynamic.zoneNode[zone]!), apex)
    if (!isHere || isHidden(source.bundle, nameOf(dynamic, node))) continue
    yield* writtenRecords(dynamic, node)
  }
}

/** The records of a node of the second bundle, whose zones have a SOA record that says nothing. */
export function writtenRecords(dynamic: Bundle, node: number): ZoneRecord[] {
  const first = cellOf(dynamic, node, NodeCell.FirstRrset)
  const zone = zoneOfNode(dynamic, node)
  const records: ZoneRecord[] = []
  for (let i = 0; i < rrsetCount(dynamic, node); i++) {
    if (typeOf(dynamic, first + i) === RrType.SOA) continue
    records.push(...rrsetRecords(dynamic, node, first + i, zone))
  }
  return records
}

/**
 * Nobody gets written records of this name: an alias is there, or a cut at it or above it, or a
 * DNAME record above it. RFC 1034 section 4.3.2, RFC 6672 section 2.4.
 */
export function isHidden(bundle: Bundle, name: Uint8Array): boolean {
  for (let at = 0; name[at] !== 0; at += name[at]! + 1) {
    const node = findStored(bundle, name, at)
    const flags = node < 0 ? 0 : nodeFlags(bundle, node)
    const isApex = (flags & NodeFlag.Apex) !== 0
    if ((flags & (at === 0 ? hidingHere : hidingBelow)) !== 0 && !(isApex && at === 0)) return true
    if (isApex) return false
  }
  return false
}

const hidingHere = NodeFlag.Cut | NodeFlag.HasCname | NodeFlag.Alias
const hidingBelow = NodeFlag.Cut | NodeFlag.Dname

/** Apexes of all zones, in wire form. */
export function zoneNames(bundle: Bundle): readonly Uint8Array[] {
  return Array.from(bundle.zoneNode, (_, zone) => zoneName(bundle, zone))
}

/** Zones that secondary servers get: what this server signs is not transferred. */
export function transferredZones(bundle: Bundle): readonly Uint8Array[] {
  return zoneNames(bundle).filter((_, zone) => !isSigned(bundle, zone))
}

/** @param zone row in `zoneNode` */
export function zoneName(bundle: Bundle, zone: number): Uint8Array {
  return nameOf(bundle, bundle.zoneNode[zone]!)
}

/** A name in wire form as a text, an octet each, that maps and sets can have as a key. */
export const zoneKeyOf = (name: Uint8Array): string =>
  Buffer.from(name.buffer, name.byteOffset, name.length).toString('latin1')

export function nameOf(bundle: Bundle, node: number): Uint8Array {
  return new Uint8Array(wireNameOf(bundle, node))
}

function cellOf(bundle: Bundle, node: number, cell: number): number {
  return bundle.nodeRow[node * NodeCell.Words + cell]!
}

function typeOf(bundle: Bundle, rrset: number): number {
  return bundle.rrsetRow[rrset * RrsetCell.Words + RrsetCell.Type]!
}
