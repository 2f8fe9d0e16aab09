// What a member points to, its address or its host name, in one spelling.
import { parseAddress } from '#dns/address.ts'
import type { Member } from '#schemas/objects/member.ts'
import { checkAddress } from './addresses.ts'
import { checkHostName } from './names.ts'

export type MemberTarget = Pick<Member, 'ipAddress' | 'hostname'>

/** An address in the form of RFC 5952, a host name in lower case with its last dot. */
export function targetOf(member: MemberTarget): string {
  if (isHostname(member)) return hostnameKey(member.hostname) ?? member.hostname
  return checkAddress(member.ipAddress).canonical ?? member.ipAddress
}

/** As the file has it. */
export function targetText(member: MemberTarget): string {
  return isHostname(member) ? member.hostname : member.ipAddress
}

/** One with both is refused; until then its address counts. */
export function isHostname({ ipAddress, hostname }: MemberTarget): boolean {
  return ipAddress === '' && hostname !== ''
}

/**
 * @returns undefined when the text is no host name of at least two labels, or an address, or like a
 *   mistyped one: no top-level domain is a number (RFC 3696 section 2)
 */
export function hostnameKey(text: string): string | undefined {
  if (parseAddress(text.replace(/\.$/, '')).ok) return undefined
  const { key } = checkHostName(text)
  if (key === undefined || /\.\d+\.$/.test(key)) return undefined
  return key.indexOf('.') < key.length - 1 ? key : undefined
}

/** One spelling of each address and host name; what is neither stays as it is. */
export function endpointKey(text: string): string {
  return checkAddress(text).canonical ?? hostnameKey(text) ?? text
}
