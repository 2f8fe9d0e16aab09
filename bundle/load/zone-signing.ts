// Finds the zones of a bundle that are to be signed, and their algorithms: a flag at the apex and a
// DNSKEY placeholder mark them.
import { formatName } from '#dns/name.ts'
import { RrType } from '#dns/rrtype.ts'
import { findRrset, nodeFlags, rrsetCount, wireNameOf } from '#bundle/format/bundle.ts'
import { serviceOfNode, zoneOfNode } from '#bundle/format/bundle.ts'
import type { Bundle, BundleColumns } from '#bundle/format/bundle.ts'
import { NodeCell, NodeFlag } from '#bundle/format/cells.ts'
import { keyPlaceholderBytes, rdataLayout, RrsetCell } from '#bundle/format/rrsets.ts'

/** The algorithm that a zone is to be signed with, or -1. */
export function zoneAlgorithm(
  bundle: Pick<BundleColumns, 'nodeRow' | 'rrsetRow' | 'rrsetData' | 'zoneNode'>,
  zone: number,
): number {
  const rrset = findRrset(bundle, bundle.zoneNode[zone]!, RrType.DNSKEY)
  if (rrset < 0) return -1
  const at = bundle.rrsetRow[rrset * RrsetCell.Words + RrsetCell.Data]!
  const length = (bundle.rrsetData[at]! << 8) | bundle.rrsetData[at + 1]!
  if (length !== keyPlaceholderBytes) return -1
  return bundle.rrsetData[at + rdataLayout.lengthBytes + keyPlaceholderBytes - 1]!
}

/** Whether a zone that is signed answers what keys others have. See `ZoneModel.hasSignals`. */
export function hasSignals(
  bundle: Pick<BundleColumns, 'nodeRow' | 'rrsetRow' | 'rrsetData' | 'zoneNode'>,
  zone: number,
): boolean {
  const rrset = findRrset(bundle, bundle.zoneNode[zone]!, RrType.DNSKEY)
  if (rrset < 0) return false
  const at = bundle.rrsetRow[rrset * RrsetCell.Words + RrsetCell.Data]!
  return bundle.rrsetData[at + rdataLayout.lengthBytes + 1] === 0
}

export interface SignedZone {
  /** Lower case, with the trailing dot. */
  readonly name: string
  /** The same in wire form. */
  readonly wire: Uint8Array
  readonly algorithm: number
  readonly row: number
}

/** The zones of a bundle that are to be signed. */
export function signedZones(bundle: Bundle): SignedZone[] {
  const { rrsetRow, zoneNode } = bundle
  let hasAny = false
  // Nodes with equal rrsets share rows, so rows are few even with many zones.
  for (let row = 0; row < rrsetRow.length && !hasAny; row += RrsetCell.Words) {
    hasAny = rrsetRow[row + RrsetCell.Type] === RrType.DNSKEY
  }
  const zones: SignedZone[] = []
  for (let zone = 0; hasAny && zone < zoneNode.length; zone++) {
    const node = zoneNode[zone]!
    if ((nodeFlags(bundle, node) & NodeFlag.Signed) === 0) continue
    const wire = wireNameOf(bundle, node).slice()
    zones.push({ name: formatName(wire), wire, algorithm: zoneAlgorithm(bundle, zone), row: zone })
  }
  return zones
}

/**
 * Estimates the rrsets of signed zones that are answered repeatedly: static ones, those of single
 * members of services, and a denial at each name.
 */
export function signableRrsets(bundle: Bundle): number {
  const { nodeRow, poolCount4, poolCount6, zoneNode } = bundle
  const isSigned = Uint8Array.from(zoneNode, (node) =>
    (nodeFlags(bundle, node) & NodeFlag.Signed) === 0 ? 0 : 1,
  )
  if (!isSigned.includes(1)) return 0
  let count = 0
  for (let node = 0; node < bundle.counts.nodes; node++) {
    if (isSigned[zoneOfNode(bundle, node)] !== 1) continue
    const pool = nodeRow[node * NodeCell.Words + NodeCell.Pool]! - 1
    const hasPool = serviceOfNode(bundle, node) >= 0 && pool >= 0
    count += rrsetCount(bundle, node) + 1
    if (hasPool) count += poolCount4[pool]! + poolCount6[pool]!
  }
  return count
}
