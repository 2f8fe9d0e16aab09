// Finds a service whose members are host names among the names that an answer passes through.
import { nodeFlags, serviceOfNode } from '#bundle/format/bundle.ts'
import type { Bundle } from '#bundle/format/bundle.ts'
import { NodeFlag } from '#bundle/format/cells.ts'
import { foldName } from '#dns/name.ts'
import { aliasLinks } from './answer-records.ts'
import { answeringNode } from './answering-node.ts'

interface AliasService {
  readonly service: number
  /** The name of the service in wire form, lower case. */
  readonly name: Uint8Array
  /** Position of its record in the answer; -1: the record is not there. */
  readonly record: number
}

/**
 * Finds the first such service: what its members lead to follows it. It answers every type.
 *
 * @param qname wire form, lower case
 * @param message of our own answer path, with `count` answers
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
