// Finds the service whose members are aliases among the names that an answer goes through.
import { nodeFlags, serviceOfNode } from '#bundle/format/bundle.ts'
import type { Bundle } from '#bundle/format/bundle.ts'
import { NodeFlag } from '#bundle/format/cells.ts'
import { foldName, labelOffsets } from '#dns/name.ts'
import { findStored } from '#runtime/answer/lookup.ts'
import { aliasLinks } from './answer-records.ts'

export interface AliasService {
  readonly service: number
  /** The name that it answers for, wire form, lower case. */
  readonly name: Uint8Array
  /** Position of its record in the answer; -1: it is not there. */
  readonly record: number
}

/**
 * The first one: what its members lead to comes after it. It stands for every type.
 *
 * @param qname wire form, lower case
 * @param message made by our own answer path, with `count` answers
 */
export function aliasService(
  bundle: Bundle,
  qname: Uint8Array,
  message: Uint8Array,
  count: number,
): AliasService | undefined {
  const links = aliasLinks(message, count)
  const names = [qname, ...links.map(({ target }) => Uint8Array.from(foldName(target)))]
  for (const [i, name] of names.entries()) {
    const node = answeringNode(bundle, name)
    if (node < 0 || (nodeFlags(bundle, node) & NodeFlag.Alias) === 0) continue
    return { service: serviceOfNode(bundle, node), name, record: links[i]?.record ?? -1 }
  }
  return undefined
}

/** Who answers for a name: itself, or the wildcard of its closest encloser (RFC 4592); or -1. */
export function answeringNode(bundle: Bundle, qname: Uint8Array): number {
  const own = findStored(bundle, qname, 0)
  if (own >= 0) return own
  const encloser = labelOffsets(qname).find((at) => at > 0 && findStored(bundle, qname, at) >= 0)
  if (encloser === undefined) return -1
  return findStored(bundle, Uint8Array.of(1, asterisk, ...qname.subarray(encloser)), 0)
}

const asterisk = 0x2a
