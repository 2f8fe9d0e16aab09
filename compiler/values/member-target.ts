// What a member points to, its address, its host name or a source, in one spelling.
import { discoveredPrefix } from '#bundle/discovered/from.ts'
import { parseAddress } from '#dns/address.ts'
import type { Member } from '#schemas/objects/member.ts'
import { checkAddress } from './addresses.ts'
import { checkHostName } from './names.ts'

export type MemberTarget = Pick<Member, 'ipAddress' | 'hostname'> & Partial<Pick<Member, 'from'>>

/**
 * An address in the form of RFC 5952, a host name in lower case with its last dot, a source with
 * its prefix.
 */
export function targetOf(member: MemberTarget): string {
  if (isDiscoveredMember(member)) return discoveredPrefix + member.from!
  if (isHostname(member)) return hostnameKey(member.hostname) ?? member.hostname
  return checkAddress(member.ipAddress).canonical ?? member.ipAddress
}

/** The target as in the file. */
export function targetText(member: MemberTarget): string {
  if (isDiscoveredMember(member)) return discoveredPrefix + member.from!
  return isHostname(member) ? member.hostname : member.ipAddress
}

/** Whether nodes find its addresses. One with several is refused; until then its address counts. */
export function isHostname({ ipAddress, hostname, from = '' }: MemberTarget): boolean {
  return ipAddress === '' && (hostname !== '' || from !== '')
}

/** Whether a source of the settings says which addresses it has. */
export function isDiscoveredMember({ ipAddress, hostname, from = '' }: MemberTarget): boolean {
  return ipAddress === '' && hostname === '' && from !== ''
}

export interface AddressFamily {
  readonly name: string
  /** The noun for what a name lacks without members of the family. */
  readonly noun: string
  readonly has: (member: MemberTarget) => boolean
}

/** A host name counts for both families. */
const familyOf = (name: string, isIpv6: boolean): AddressFamily => ({
  ...{ name, noun: `${name} address` },
  has: (member) => isHostname(member) || member.ipAddress.includes(':') === isIpv6,
})

export const ipv4 = familyOf('IPv4', false)
export const ipv6 = familyOf('IPv6', true)
export const addressFamilies: readonly AddressFamily[] = Object.freeze([ipv4, ipv6])

/**
 * @returns undefined when the text is not a host name of at least two labels, or is an address or
 * looks like a mistyped one: no top-level domain is a number (RFC 3696 section 2)
 */
export function hostnameKey(text: string): string | undefined {
  if (parseAddress(text.replace(/\.$/, '')).ok) return undefined
  const { key } = checkHostName(text)
  if (key === undefined || /\.\d+\.$/.test(key)) return undefined
  return key.indexOf('.') < key.length - 1 ? key : undefined
}

/** Normalises an address or host name; other text is returned unchanged. */
export function endpointKey(text: string): string {
  return checkAddress(text).canonical ?? hostnameKey(text) ?? text
}
