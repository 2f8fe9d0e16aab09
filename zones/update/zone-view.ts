// What prerequisites of an update are compared with: the records of this node, from both of its
// sources. RFC 2136 section 3.2.
import { nodeFlags, rrsetCount, serviceOfNode, zoneOfNode } from '#bundle/format/bundle.ts'
import { findRrset } from '#bundle/format/bundle.ts'
import type { Bundle } from '#bundle/format/bundle.ts'
import { NodeFlag } from '#bundle/format/cells.ts'
import { formatName } from '#dns/name.ts'
import { RrType } from '#dns/rrtype.ts'
import type { ZoneView } from '#dns/update/check-update.ts'
import { findStored } from '#answer/lookup.ts'
import { rrsetRecords, serviceRecords } from '#zones/transfer/zone-records.ts'
import type { WrittenRecords } from '#zones/dynamic/written-records.ts'

/**
 * @param mayUpdate whether this apex of ours takes updates
 * @param texts the rrsets that were written at run time
 */
export function zoneViewOf(
  bundle: Bundle | undefined,
  texts: Pick<WrittenRecords, 'find'>,
  mayUpdate: (apex: Uint8Array) => boolean,
): ZoneView {
  const dynamicOf = (name: Uint8Array): readonly Uint8Array[] =>
    texts.find(formatName(name))?.values ?? []
  return {
    isZone: (apex) => {
      if (bundle === undefined || !mayUpdate(apex)) return false
      const node = findNode(bundle, apex)
      return node >= 0 && (nodeFlags(bundle, node) & NodeFlag.Apex) !== 0
    },
    isUsed: (name) => {
      if (dynamicOf(name).length > 0) return true
      const node = bundle === undefined ? -1 : findNode(bundle, name)
      if (bundle === undefined || node < 0) return false
      return rrsetCount(bundle, node) > 0 || serviceOfNode(bundle, node) >= 0
    },
    rdataOf: (name, type) => {
      const values = type === RrType.TXT ? [...dynamicOf(name)] : []
      if (bundle !== undefined) values.push(...staticRdata(bundle, name, type))
      return values.length === 0 ? undefined : values
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

/** @param name in wire form and lower case. @returns -1: there is no such node */
const findNode = (bundle: Bundle, name: Uint8Array): number => findStored(bundle, name, 0)
