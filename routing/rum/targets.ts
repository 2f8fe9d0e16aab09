// Finds the members that browsers may measure for a name: those of its pool with a RUM address.
import {
  address6Row,
  addressOfMember,
  poolOfService,
  serviceOfNode,
} from '#bundle/format/bundle.ts'
import type { Bundle } from '#bundle/format/bundle.ts'
import { memberExtraOf, membersWithRumUrl } from '#bundle/format/member-extra.ts'
import { findStored } from '#bundle/load/find-node.ts'
import { foldName, parseName } from '#dns/name.ts'

export interface RumTarget {
  readonly ip: string
  readonly rumUrl: string
}

/**
 * @param domain of a service, in presentation form; an unknown name has no members
 * @returns indices in the bundle, in order
 */
export function rumMembers(bundle: Bundle, domain: string): readonly number[] {
  const name = parseName(domain)
  const node = name.ok ? findStored(bundle, foldName(name.value), 0) : -1
  const service = node < 0 ? -1 : serviceOfNode(bundle, node)
  const pool = service < 0 ? -1 : poolOfService(bundle, service)
  if (pool < 0) return []
  const first = bundle.poolMemberStart[pool]!
  const end = first + bundle.poolCount4[pool]! + bundle.poolCount6[pool]!
  return membersWithRumUrl(bundle, first, end)
}

export function rumTargetOf(bundle: Bundle, member: number): RumTarget {
  return { ip: addressOfMember(bundle, member), rumUrl: memberExtraOf(bundle, member).rumUrl }
}

/**
 * Finds the members with this address: several when only their ports differ.
 *
 * @param octets 4 or 16
 */
export function membersAt(
  bundle: Bundle,
  members: readonly number[],
  octets: Uint8Array,
): readonly number[] {
  // Compared in place: anybody may ask about thousands of members at any rate.
  const { memberAddress, memberAddress6 } = bundle
  const column = octets.length === 4 ? memberAddress : memberAddress6
  return members.filter((member) => {
    if (isIpv4Member(bundle, member) !== (octets.length === 4)) return false
    const start = octets.length === 4 ? member * 4 : address6Row(bundle, member) * 16
    for (let i = 0; i < octets.length; i++) if (column[start + i] !== octets[i]) return false
    return true
  })
}

function isIpv4Member({ memberPool, poolMemberStart, poolCount4 }: Bundle, member: number) {
  const pool = memberPool[member]!
  return member < poolMemberStart[pool]! + poolCount4[pool]!
}

/** @returns four words, as a bundle has them */
export function wordsOfUid({ memberUid }: Bundle, member: number): Uint32Array {
  return new Uint32Array(memberUid.slice(member * 16, member * 16 + 16).buffer)
}
