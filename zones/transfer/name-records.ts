// The records that one name has in the transfer of a zone.
import { nodeFlags, zoneOfNode } from '#bundle/format/bundle.ts'
import type { Bundle } from '#bundle/format/bundle.ts'
import { NodeFlag } from '#bundle/format/cells.ts'
import { sameOctets } from '#dns/name.ts'
import { findStored } from '#bundle/load/find-node.ts'
import { delegation, isHidden, nodeRecords, writtenRecords, zoneName } from './zone-records.ts'
import type { ZoneRecord } from './zone-records.ts'
import type { ZoneContent } from './zone-source.ts'

/**
 * The ones of `zoneRecords` that have this owner, but SOA.
 *
 * @param zone row in `zoneNode`
 * @param name in wire form and lower case
 */
export function recordsOfName(
  content: ZoneContent,
  zone: number,
  name: Uint8Array,
): readonly ZoneRecord[] {
  const { bundle } = content
  const node = findStored(bundle, name, 0)
  const isHere = node >= 0 && zoneOfNode(bundle, node) === zone
  const own = isHere ? [...nodeRecords(content, node, zone)] : []
  const below = node < 0 ? [] : delegated(content, zone, name)
  return [...own, ...below, ...written(content, zone, name)]
}

/** NS records of a zone of ours that begins at the name, and addresses of its name servers. */
function delegated(content: ZoneContent, zone: number, name: Uint8Array): ZoneRecord[] {
  const { bundle } = content
  const records: ZoneRecord[] = []
  for (let at = 0; ; at += name[at]! + 1) {
    const child = zoneBeginningAt(bundle, name, at)
    if (child === zone) return records
    if (child >= 0 && bundle.zoneParent[child] === zone) {
      const all = delegation(content, child)
      records.push(...all.filter(({ owner }) => sameOctets(owner, name)))
    }
    if (name[at] === 0) return records
  }
}

/** Records that were written at run time. */
function written(
  { bundle, dynamic }: ZoneContent,
  zone: number,
  name: Uint8Array,
): readonly ZoneRecord[] {
  const node = dynamic === undefined ? -1 : findStored(dynamic, name, 0)
  if (dynamic === undefined || node < 0) return []
  const inner = zoneOfNode(dynamic, node)
  const isHere = sameOctets(zoneName(dynamic, inner), zoneName(bundle, zone))
  return isHere && !isHidden(bundle, name) ? writtenRecords(dynamic, node) : []
}

/** Row in `zoneNode` of the zone whose apex is what `name` has from `at` on, or -1. */
export function zoneBeginningAt(bundle: Bundle, name: Uint8Array, at: number): number {
  const node = findStored(bundle, name, at)
  const isApex = node >= 0 && (nodeFlags(bundle, node) & NodeFlag.Apex) !== 0
  return isApex ? zoneOfNode(bundle, node) : -1
}
