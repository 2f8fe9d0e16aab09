// The records of a zone for a server that answers beside us: the same as in a transfer, with a
// choice of what stands for balanced names.
import { rrsetCount, serviceOfNode, zoneOfNode } from '#bundle/format/bundle.ts'
import type { Bundle } from '#bundle/format/bundle.ts'
import { NodeCell } from '#bundle/format/cells.ts'
import { sameOctets } from '#dns/name.ts'
import { RrType } from '#dns/rrtype.ts'
import type { ZoneRecord } from '#dns/zone-file/zone-record.ts'
import { findStored } from '#bundle/load/find-node.ts'
import { isDeclared } from '#zones/dynamic/written-bundle.ts'
import type { WrittenName } from '#zones/dynamic/written-records.ts'
import { zoneBeginningAt } from '#zones/transfer/name-records.ts'
import {
  delegation,
  isHidden,
  rrsetRecords,
  serviceRecords,
  zoneName,
} from '#zones/transfer/zone-records.ts'
import type { ZoneRecord as TransferRecord } from '#zones/transfer/zone-records.ts'

export interface MirrorOptions {
  /** False: names of services are left out. */
  readonly hasServices: boolean
  /** Members that are left out while others of their pool are not; left out: all are there. */
  readonly isDown?: (member: number) => boolean
  /** Records that were written at run time. */
  readonly written: readonly WrittenName[]
}

/**
 * @param apex in wire form and lower case.
 * @returns undefined: the bundle has no such zone
 */
export function mirroredZone(
  bundle: Bundle,
  apex: Uint8Array,
  { hasServices, isDown, written }: MirrorOptions,
): readonly ZoneRecord[] | undefined {
  const zone = bundle.zoneNode.findIndex((_, row) => sameOctets(zoneName(bundle, row), apex))
  if (zone < 0) return undefined
  const records: ZoneRecord[] = []
  const add = (some: readonly TransferRecord[]): void => {
    for (const { owner, type, ttlSeconds: ttl, rdata } of some) {
      if (type !== RrType.SOA) records.push({ owner, type, ttl, rdata })
    }
  }
  for (let node = 0; node < bundle.counts.nodes; node++) {
    if (zoneOfNode(bundle, node) !== zone) continue
    const first = bundle.nodeRow[node * NodeCell.Words + NodeCell.FirstRrset]!
    for (let i = 0; i < rrsetCount(bundle, node); i++) {
      add(rrsetRecords(bundle, node, first + i, zone))
    }
    const isService = serviceOfNode(bundle, node) >= 0
    if (hasServices && isService) add(serviceRecords(bundle, node, isDown))
  }
  const content = { bundle, dynamic: undefined }
  for (let child = 0; child < bundle.zoneNode.length; child++) {
    if (bundle.zoneParent[child] === zone) add(delegation(content, child))
  }
  for (const { name, rrsets } of written) {
    if (zoneOf(bundle, name) !== zone || isHidden(bundle, name)) continue
    const declared = findStored(bundle, name, 0)
    for (const { type, ttlSeconds: ttl, values } of rrsets) {
      // As they are answered: nothing is written over what Git declares, TXT stands beside it.
      if (type !== RrType.TXT && isDeclared(bundle, declared, type)) continue
      for (const rdata of values) records.push({ owner: name, type, ttl, rdata })
    }
  }
  return records
}

/** Row in `zoneNode` of the zone that a name is in, or -1. */
function zoneOf(bundle: Bundle, name: Uint8Array): number {
  for (let at = 0; ; at += name[at]! + 1) {
    const zone = zoneBeginningAt(bundle, name, at)
    if (zone >= 0 || name[at] === 0) return zone
  }
}
