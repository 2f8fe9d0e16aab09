// Reads rrsets back from a bundle: rdata in wire form, and the types of a name. For reports;
// answers are written by `answer/rrsets.ts`.
import { RrType } from '#dns/rrtype.ts'
import { nodeFlags, rrsetCount, serviceOfNode, zoneOfNode } from '#bundle/format/bundle.ts'
import type { Bundle, BundleColumns } from '#bundle/format/bundle.ts'
import { NodeCell, NodeFlag } from '#bundle/format/cells.ts'
import { firstPolicyCode, PolicyCell } from '#bundle/format/routing-cells.ts'
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
    return wireRdata(rrsetData.subarray(start, at), type, () => apexOf(bundle, zone))
  })
  return { type, ttlSeconds: rrsetRow[row + RrsetCell.TtlSeconds]!, rdata }
}

function apexOf({ names, nodeRow, zoneNode }: BundleColumns, zone: number): Uint8Array {
  const start = nodeRow[zoneNode[zone]! * NodeCell.Words + NodeCell.NameOffset]!
  let end = start
  while (names[end] !== 0) end += names[end]! + 1
  return names.subarray(start, end + 1)
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

/**
 * The types that any client may get from a name, independent of health and place: a denial of other
 * types must list them. DS at an apex is left out: it belongs to the parent.
 */
export function typesOfNode(bundle: Bundle, node: number): number[] {
  const flags = nodeFlags(bundle, node)
  if ((flags & NodeFlag.Below) !== 0 && (flags & NodeFlag.Apex) === 0) return []
  // An alias replaces every type.
  if ((flags & NodeFlag.Alias) !== 0) return [RrType.CNAME]
  const types = new Set(rrsetsOfNode(bundle, node).map(({ type }) => type))
  if ((flags & NodeFlag.Cut) !== 0) {
    return [RrType.NS, RrType.DS].filter((type) => types.has(type))
  }
  if ((flags & NodeFlag.Apex) !== 0) types.delete(RrType.DS)
  for (const pool of poolsOfNode(bundle, node)) {
    if (bundle.poolCount4[pool]! > 0) types.add(RrType.A)
    if (bundle.poolCount6[pool]! > 0) types.add(RrType.AAAA)
  }
  return [...types].sort((a, b) => a - b)
}

/** The pool of the node's service, and the fallback pool of its policy. */
function poolsOfNode(bundle: Bundle, node: number): number[] {
  if (serviceOfNode(bundle, node) < 0) return []
  const row = node * NodeCell.Words
  const policy = bundle.nodeRow[row + NodeCell.Algorithm]! - firstPolicyCode
  const fallback =
    policy < 0 ? 0 : bundle.policyRow[policy * PolicyCell.Words + PolicyCell.FallbackPool]!
  return [bundle.nodeRow[row + NodeCell.Pool]! - 1, fallback - 1].filter((pool) => pool >= 0)
}
