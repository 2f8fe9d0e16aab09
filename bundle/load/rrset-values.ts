// Reads rrsets back from a bundle, rdata in wire form. For reports; answers are written by
// `answer/rrsets.ts`.
import { RrType } from '#dns/rrtype.ts'
import { rrsetCount, wireNameOf, zoneOfNode } from '#bundle/format/bundle.ts'
import type { Bundle } from '#bundle/format/bundle.ts'
import { NodeCell } from '#bundle/format/cells.ts'
import {
  CsyncFlag,
  csyncFlagsAt,
  rdataForms,
  rdataLayout,
  RrsetCell,
  storedName,
} from '#bundle/format/rrsets.ts'

export interface RrsetValue {
  readonly type: number
  readonly ttlSeconds: number
  /** Wire form, names uncompressed in their stored letter case; the serial is a base. */
  readonly rdata: readonly Uint8Array[]
}

/** The static rrsets of a node, by type. */
export function rrsetsOfNode(bundle: Bundle, node: number): RrsetValue[] {
  const first = bundle.nodeRow[node * NodeCell.Words + NodeCell.FirstRrset]!
  const zone = zoneOfNode(bundle, node)
  return Array.from({ length: rrsetCount(bundle, node) }, (_, i) =>
    rrsetAt(bundle, first + i, zone),
  )
}

/** @param zone of a node that has the row: names in rdata may end with its apex */
export function rrsetAt(bundle: Bundle, rrset: number, zone: number): RrsetValue {
  const { rrsetRow, rrsetData } = bundle
  const row = rrset * RrsetCell.Words
  const type = rrsetRow[row + RrsetCell.Type]!
  const count = rrsetRow[row + RrsetCell.Count]!
  let at = rrsetRow[row + RrsetCell.Data]!
  const rdata = Array.from({ length: count }, () => {
    const start = at + rdataLayout.lengthBytes
    at = start + ((rrsetData[at]! << 8) | rrsetData[at + 1]!)
    return wireRdata(rrsetData.subarray(start, at), type, () =>
      wireNameOf(bundle, bundle.zoneNode[zone]!),
    )
  })
  return { type, ttlSeconds: rrsetRow[row + RrsetCell.TtlSeconds]!, rdata }
}

function wireRdata(stored: Uint8Array, type: number, apex: () => Uint8Array): Uint8Array {
  const form = rdataForms[type]
  if (form === undefined) {
    const rdata = Uint8Array.from(stored)
    // A mark for who answers.
    if (type === RrType.CSYNC) rdata[csyncFlagsAt]! &= ~(CsyncFlag.SerialIsBase >> 8)
    return rdata
  }
  const fixed = form.hasTarget ? rdataLayout.targetBytes : 0
  let at = fixed + form.before
  const parts: Uint8Array[] = [stored.subarray(fixed, at)]
  for (let i = 0; i < form.names; i++) {
    const labels = at + storedName.labels
    const end = labels + stored[at]!
    const isCut = stored[at + storedName.endsAtApex] === 1
    parts.push(stored.subarray(labels, end), isCut ? apex() : Uint8Array.of(0))
    at = end
  }
  return Uint8Array.from(Buffer.concat([...parts, stored.subarray(at)]))
}
