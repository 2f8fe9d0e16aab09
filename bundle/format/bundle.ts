// Defines a loaded bundle, and reads its columns: the contract between compiler and runtime.
import { formatAddress } from '#dns/address.ts'
import { formatName } from '#dns/name.ts'
import * as cells from './cells.ts'
import type { ColumnsOf, SectionName } from './format.ts'
import { hostnameOfMember } from './hostnames.ts'
import type { BundleCounts, Manifest } from './manifest.ts'
import { redirectAt } from '#bundle/redirects/redirect-table.ts'
import type { RedirectModel } from '#bundle/redirects/redirect-table.ts'
import * as rrsets from './rrsets.ts'

// Local constants are faster than imports: see answer/answer.ts.
const { NodeCell, NodeFlag, nodeFlagShift, rrsetCountShift } = cells
const { RrsetCell } = rrsets

/** Each field is one section of the file, described in `sectionSpecs`. */
export type BundleColumns = ColumnsOf<SectionName>

/** A checked bundle: every index in it is within its table. */
export interface Bundle extends BundleColumns {
  readonly manifest: Manifest
  /** The name of the bundle: the result of `bundleDigest`. */
  readonly digest: string
  /** The whole file, for handing to another thread. */
  readonly bytes: Uint8Array
  readonly counts: BundleCounts
  readonly nameSeed: number
  /** Number of labels of the deepest owner name or trigger. */
  readonly nameLabelsMax: number
  /** Slots of `nameIndex` less one; the number of slots is a power of two. */
  readonly nameIndexMask: number
  /** Slots of `responseIndex` less one; -1 when there is no rule. */
  readonly responseIndexMask: number
  /** False for most bundles: then every member has an address of its own. */
  readonly hasHostnames: boolean
}

/** Returns a service's pool, or -1. */
export function poolOfService(bundle: ServiceColumns, service: number): number {
  return serviceCell(bundle, service, NodeCell.Pool) - 1
}

/** The columns needed to find a service's row. */
export type ServiceColumns = Pick<BundleColumns, 'nodeRow' | 'serviceNode'>

/** Returns a cell of the row of a service's node. */
export function serviceCell(bundle: ServiceColumns, service: number, cell: number): number {
  return bundle.nodeRow[bundle.serviceNode[service]! * NodeCell.Words + cell]!
}

/** Returns how many octets a node's name has. */
export function nodeNameBytes(bundle: Pick<BundleColumns, 'nodeRow'>, node: number): number {
  return bundle.nodeRow[node * NodeCell.Words + NodeCell.NameBytesAndFlags]! & 0xff
}

type NameColumns = Pick<BundleColumns, 'nodeRow' | 'names'>

/** Returns the name of a node in wire form, as a view into the bundle. */
export function wireNameOf(bundle: NameColumns, node: number): Uint8Array {
  const start = bundle.nodeRow[node * NodeCell.Words + NodeCell.NameOffset]!
  return bundle.names.subarray(start, start + nodeNameBytes(bundle, node))
}

export function nameOfNode(bundle: NameColumns, node: number): string {
  return formatName(wireNameOf(bundle, node))
}

export function nameOfZone(
  bundle: NameColumns & Pick<BundleColumns, 'zoneNode'>,
  zone: number,
): string {
  return nameOfNode(bundle, bundle.zoneNode[zone]!)
}

/** Bits of NodeFlag. */
export function nodeFlags(bundle: Pick<BundleColumns, 'nodeRow'>, node: number): number {
  const cell = bundle.nodeRow[node * NodeCell.Words + NodeCell.NameBytesAndFlags]!
  return (cell >>> nodeFlagShift) & 0xff
}

/**
 * Whether this server signs a zone.
 *
 * @param zone row in `zoneNode`
 */
export function isSigned(
  bundle: Pick<BundleColumns, 'nodeRow' | 'zoneNode'>,
  zone: number,
): boolean {
  return (nodeFlags(bundle, bundle.zoneNode[zone]!) & NodeFlag.Signed) !== 0
}

/** Returns how many rows of `rrsetRow` belong to a node, from its `FirstRrset` on. */
export function rrsetCount(bundle: Pick<BundleColumns, 'nodeRow'>, node: number): number {
  return bundle.nodeRow[node * NodeCell.Words + NodeCell.NameBytesAndFlags]! >>> rrsetCountShift
}

/** Returns a node's service, or -1. */
export function serviceOfNode(bundle: Pick<BundleColumns, 'nodeRow'>, node: number): number {
  return bundle.nodeRow[node * NodeCell.Words + NodeCell.Service]! - 1
}

/** Returns the zone of a node; for an apex, the zone below the cut. */
export function zoneOfNode(bundle: Pick<BundleColumns, 'nodeRow'>, node: number): number {
  return bundle.nodeRow[node * NodeCell.Words + NodeCell.Zone]!
}

/** Returns the row in `rrsetRow` of a node's rrset of a type, or -1. */
export function findRrset(
  bundle: Pick<BundleColumns, 'nodeRow' | 'rrsetRow'>,
  node: number,
  type: number,
): number {
  const first = bundle.nodeRow[node * NodeCell.Words + NodeCell.FirstRrset]!
  const end = first + rrsetCount(bundle, node)
  for (let rrset = first; rrset < end; rrset++) {
    const found = bundle.rrsetRow[rrset * RrsetCell.Words + RrsetCell.Type]!
    if (found >= type) return found === type ? rrset : -1
  }
  return -1
}

/** Returns text `index` of the string table. */
export function textOf(
  bundle: Pick<BundleColumns, 'stringBytes' | 'stringOffset'>,
  index: number,
): string {
  const start = bundle.stringOffset[index]!
  const end = bundle.stringOffset[index + 1]!
  return Buffer.from(bundle.stringBytes.subarray(start, end)).toString('utf8')
}

/** Returns a UUID in its 36-character form. */
export function uidOf(column: Uint8Array, row: number): string {
  const hex = Buffer.from(column.subarray(row * 16, row * 16 + 16)).toString('hex')
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}

/** Returns all redirects of a bundle, by uid. */
export function redirectsOf(bundle: Bundle): readonly RedirectModel[] {
  return Array.from({ length: bundle.counts.redirects }, (_, row) => ({
    uid: uidOf(bundle.redirectUid, row),
    ...redirectAt(bundle, row),
  }))
}

/** Address of a member declared with one: 4 octets of IPv4 or 16 of IPv6; a view. */
export function memberOctets(bundle: BundleColumns, member: number): Uint8Array {
  const pool = bundle.memberPool[member]!
  const isIpv4 = member < bundle.poolMemberStart[pool]! + bundle.poolCount4[pool]!
  if (isIpv4) return bundle.memberAddress.subarray(member * 4, member * 4 + 4)
  const row = address6Row(bundle, member)
  return bundle.memberAddress6.subarray(row * 16, row * 16 + 16)
}

/** Row in `memberAddress6` of an IPv6 member. */
export function address6Row(
  { memberAddress }: Pick<BundleColumns, 'memberAddress'>,
  member: number,
): number {
  const at = member * 4
  const high = (memberAddress[at]! << 24) | (memberAddress[at + 1]! << 16)
  return high | (memberAddress[at + 2]! << 8) | memberAddress[at + 3]!
}

/** Returns a member's declared address as text, or its host name. */
export function addressOfMember(bundle: Bundle, member: number): string {
  return hostnameOfMember(bundle, member) ?? formatAddress(memberOctets(bundle, member))
}
