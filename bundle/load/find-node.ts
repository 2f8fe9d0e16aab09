// Finds the node of a name in the hash index of a bundle.
import { nodeNameBytes } from '#bundle/format/bundle.ts'
import type { Bundle } from '#bundle/format/bundle.ts'
import * as cells from '#bundle/format/cells.ts'
import { hashNameAt } from '#dns/name.ts'

// Local constants are faster than imports: see answer/answer.ts.
const { NodeCell } = cells

/**
 * @param octets lower case
 * @returns the node with the name in `octets` from `start` on, or -1
 */
export function findStored(bundle: Bundle, octets: Uint8Array, start: number): number {
  const { nameIndex, nameIndexMask, nameSeed, names, nodeRow } = bundle
  const hash = hashNameAt(octets, start, nameSeed)
  // The loader has proved that there is a free slot, so the walk ends.
  for (let slot = hash & nameIndexMask; ; slot = (slot + 1) & nameIndexMask) {
    const node = nameIndex[slot * 2 + 1]! - 1
    if (node < 0) return -1
    if ((nameIndex[slot * 2]! | 0) !== hash) continue
    const offset = nodeRow[node * NodeCell.Words + NodeCell.NameOffset]!
    const bytes = nodeNameBytes(bundle, node)
    let same = 0
    // A name contains its own end, so names of different lengths differ within `bytes`.
    while (same < bytes && names[offset + same] === octets[start + same]) same++
    if (same === bytes) return node
  }
}
