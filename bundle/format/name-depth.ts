// Computes the greatest depth of the names in a bundle: lookups try nothing deeper.
import type { BundleColumns } from './bundle.ts'
import { NodeCell } from './cells.ts'
import { ResponseCell } from './cells.ts'

type DepthColumns = Pick<BundleColumns, 'names' | 'nodeRow' | 'responseNames' | 'responseRow'>

/** Labels of the deepest owner name or trigger, without the root. */
export function deepestName(columns: DepthColumns): number {
  const { names, nodeRow, responseNames, responseRow } = columns
  let deepest = 0
  for (let at = NodeCell.NameOffset; at < nodeRow.length; at += NodeCell.Words) {
    deepest = Math.max(deepest, labelCountAt(names, nodeRow[at]!))
  }
  for (let at = ResponseCell.Trigger; at < responseRow.length; at += ResponseCell.Words) {
    deepest = Math.max(deepest, labelCountAt(responseNames, responseRow[at]!))
  }
  return deepest
}

function labelCountAt(octets: Uint8Array, start: number): number {
  let labels = 0
  for (let at = start; octets[at] !== 0; at += octets[at]! + 1) labels++
  return labels
}
