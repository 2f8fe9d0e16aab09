// Reads the names of nodes, as octets and as text.
import { formatName } from '#dns/name.ts'
import { nodeNameBytes } from '#bundle/format/bundle.ts'
import type { BundleColumns } from '#bundle/format/bundle.ts'
import { NodeCell } from '#bundle/format/cells.ts'

type NameColumns = Pick<BundleColumns, 'nodeRow' | 'names'>

/** The name of a node in wire form, as a view into the bundle. */
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
