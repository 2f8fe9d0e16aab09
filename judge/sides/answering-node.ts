// Finds the node of a bundle that answers for a name, outside the answer path.
import type { Bundle } from '#bundle/format/bundle.ts'
import { labelOffsets } from '#dns/name.ts'
import { findStored } from '#bundle/load/find-node.ts'

/** The node of the name, or of its closest wildcard (RFC 4592); -1: there is neither. */
export function answeringNode(bundle: Bundle, qname: Uint8Array): number {
  const own = findStored(bundle, qname, 0)
  if (own >= 0) return own
  const encloser = labelOffsets(qname).find((at) => at > 0 && findStored(bundle, qname, at) >= 0)
  if (encloser === undefined) return -1
  return findStored(bundle, Uint8Array.of(1, asterisk, ...qname.subarray(encloser)), 0)
}

const asterisk = 0x2a
