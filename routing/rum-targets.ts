// What browsers may measure for a name: the members of its pool that have an address to fetch.
import { addressOfMember, nodeNameBytes, poolOfService, serviceOfNode } from '#bundle/bundle.ts'
import type { Bundle } from '#bundle/bundle.ts'
import { NodeCell } from '#bundle/cells.ts'
import { memberExtraOf } from '#bundle/member-extra.ts'
import { foldName, hashName, parseName } from '#dns/name.ts'

export interface RumTarget {
  readonly ip: string
  readonly rumUrl: string
  /** Index in the bundle. */
  readonly member: number
  /** Four words, as a bundle has them. */
  readonly uid: Uint32Array
}

/** @param domain of a service, as people write it; a name that is none has no targets */
export function rumTargets(bundle: Bundle, domain: string): readonly RumTarget[] {
  const name = parseName(domain)
  const service = name.ok ? serviceNamed(bundle, foldName(name.value)) : -1
  const pool = service < 0 ? -1 : poolOfService(bundle, service)
  if (pool < 0) return []
  const first = bundle.poolMemberStart[pool]!
  const end = first + bundle.poolCount4[pool]! + bundle.poolCount6[pool]!
  const targets: RumTarget[] = []
  for (let member = first; member < end; member++) {
    const { rumUrl } = memberExtraOf(bundle, member)
    if (rumUrl === '') continue
    const uid = new Uint32Array(bundle.memberUid.slice(member * 16, member * 16 + 16).buffer)
    targets.push({ ip: addressOfMember(bundle, member), rumUrl, member, uid })
  }
  return targets
}

/** The service of exactly this name, or -1. @param folded wire form in lower case */
function serviceNamed(bundle: Bundle, folded: Uint8Array): number {
  const { nameIndex, nameIndexMask, nodeRow, names } = bundle
  const hash = hashName(folded, bundle.nameSeed)
  // The loader has proved that there is a free slot, so the walk ends.
  for (let slot = hash & nameIndexMask; ; slot = (slot + 1) & nameIndexMask) {
    const node = nameIndex[slot * 2 + 1]! - 1
    if (node < 0) return -1
    if ((nameIndex[slot * 2]! | 0) !== hash) continue
    if (nodeNameBytes(bundle, node) !== folded.length) continue
    const offset = nodeRow[node * NodeCell.Words + NodeCell.NameOffset]!
    if (folded.every((octet, i) => names[offset + i] === octet)) return serviceOfNode(bundle, node)
  }
}
