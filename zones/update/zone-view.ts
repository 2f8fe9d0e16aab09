// What prerequisites of an update are compared with: the records of this node, from both of its
// sources. RFC 2136 section 3.2.
import { nodeFlags, rrsetCount, serviceOfNode, zoneOfNode } from '#bundle/format/bundle.ts'
import { findRrset } from '#bundle/format/bundle.ts'
import type { Bundle } from '#bundle/format/bundle.ts'
import { NodeFlag } from '#bundle/format/cells.ts'
import { formatName } from '#dns/name.ts'
import type { ZoneView } from '#dns/update/check-update.ts'
import { findStored } from '#bundle/load/find-node.ts'
import { rrsetRecords, serviceRecords } from '#zones/transfer/zone-records.ts'
import type { WrittenRecords, WrittenRrset } from '#zones/dynamic/written-records.ts'

interface ZoneViewParts {
  /** The one that answers now. */
  readonly bundle: Bundle | undefined
  /** The records that were written at run time. */
  readonly texts: Pick<WrittenRecords, 'find'>
  /** Types that updates may change. */
  readonly types: ReadonlySet<number>
  /** Whether this apex of ours takes updates. */
  readonly mayUpdate: (apex: Uint8Array) => boolean
}

export function zoneViewOf({ bundle, texts, types, mayUpdate }: ZoneViewParts): ZoneView {
  const writtenAt = (name: Uint8Array): readonly WrittenRrset[] =>
    texts.find(formatName(name))?.rrsets ?? []
  return {
    takes: (type) => types.has(type),
    isZone: (apex) => {
      if (bundle === undefined || !mayUpdate(apex)) return false
      const node = findNode(bundle, apex)
      return node >= 0 && (nodeFlags(bundle, node) & NodeFlag.Apex) !== 0
    },
    isUsed: (name) => {
      if (writtenAt(name).length > 0) return true
      const node = bundle === undefined ? -1 : findNode(bundle, name)
      if (bundle === undefined || node < 0) return false
      return rrsetCount(bundle, node) > 0 || serviceOfNode(bundle, node) >= 0
    },
    rdataOf: (name, type) => {
      const written = writtenAt(name).find((rrset) => rrset.type === type)?.values ?? []
      const values = bundle === undefined ? [] : staticRdata(bundle, name, type)
      return values.length + written.length === 0 ? undefined : [...values, ...written]
    },
  }
}

function staticRdata(bundle: Bundle, name: Uint8Array, type: number): Uint8Array[] {
  const node = findNode(bundle, name)
  if (node < 0) return []
  const rrset = findRrset(bundle, node, type)
  const zone = zoneOfNode(bundle, node)
  const records = rrset < 0 ? [] : rrsetRecords(bundle, node, rrset, zone)
  const addresses = serviceRecords(bundle, node).filter((record) => record.type === type)
  return [...records, ...addresses].map(({ rdata }) => rdata)
}

/**
 * @param name in wire form and lower case
 * @returns of the zone of ours that the name is in; undefined: it is in none
 */
export function closestApex(bundle: Bundle, name: Uint8Array): Uint8Array | undefined {
  for (let at = 0; ; at += name[at]! + 1) {
    const node = findStored(bundle, name, at)
    if (node >= 0 && (nodeFlags(bundle, node) & NodeFlag.Apex) !== 0) return name.subarray(at)
    if (name[at] === 0) return undefined
  }
}

/**
 * @param name in wire form and lower case.
 * @returns -1: there is no such node
 */
const findNode = (bundle: Bundle, name: Uint8Array): number => findStored(bundle, name, 0)
