// Finds the zones of a bundle whose records come from elsewhere, and are not here: none have come
// yet, or they have expired.
import { nameOfNode, textOf } from '#bundle/format/bundle.ts'
import type { Bundle } from '#bundle/format/bundle.ts'
import { parseRoutingText } from '#bundle/format/routing-text.ts'

/** @param zone in lower case, with its final dot */
export const isAbsentZone = (bundle: Bundle, zone: string): boolean =>
  namesOfAbsent(bundle).includes(zone)

export function namesOfAbsent(bundle: Bundle): readonly string[] {
  return parseRoutingText(textOf(bundle, bundle.routingSettings[0]!))?.absentZones ?? []
}

/** By zone: 1 for one that is absent; null: none is. */
export function absentZones(bundle: Bundle): Uint8Array | null {
  const names = namesOfAbsent(bundle)
  if (names.length === 0) return null
  const wanted = new Set(names)
  return Uint8Array.from(bundle.zoneNode, (node) => (wanted.has(nameOfNode(bundle, node)) ? 1 : 0))
}
