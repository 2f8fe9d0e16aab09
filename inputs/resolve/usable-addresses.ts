// Selects the addresses of a host name that are answered: usable ones, few, each in its slot.
import { formatAddress, isMappedIpv4, parseAddress } from '#dns/address.ts'
import { isLocalAddress } from '#dns/network.ts'

/** @returns why no client may be sent there, such as `a loopback address`; undefined: it may */
export function whyUnusable(address: string): string | undefined {
  const parsed = parseAddress(address)
  if (!parsed.ok) return 'no address'
  const octets = parsed.value
  if (octets.every((octet) => octet === 0)) return 'the unspecified address'
  const [first, second] = [octets[0]!, octets[1]!]
  if (octets.length === 16) {
    if (isMappedIpv4(octets)) return 'an IPv4-mapped address'
    if (octets.every((octet, i) => octet === (i === 15 ? 1 : 0))) return 'a loopback address'
    if (first === 0xfe && (second & 0xc0) === 0x80) return 'a link-local address'
    return first === 0xff ? 'a multicast address' : undefined
  }
  if (first === 0) return 'an address of "this network"'
  if (first === 127) return 'a loopback address'
  if (first === 169 && second === 254) return 'a link-local address'
  if (first >= 224 && first <= 239) return 'a multicast address'
  return first >= 240 ? 'a reserved address' : undefined
}

/** The same for members, which are probed besides: a probe tells what answers there. */
export function whyNoTarget(address: string): string | undefined {
  const parsed = parseAddress(address)
  const isOfNode = parsed.ok && isLocalAddress(parsed.value)
  return whyUnusable(address) ?? (isOfNode ? ofNode : undefined)
}

/** Metadata of clouds, and IPv6 addresses that a gateway makes loopback or link-local ones of. */
const ofNode = 'an address that leads to a node itself, its link or its cloud'

/** A usable address in the form of RFC 5952. */
export function canonical(address: string): string {
  const parsed = parseAddress(address)
  return parsed.ok ? formatAddress(parsed.value) : address
}

/** Whether the address is of this machine or its link, which settings may permit. */
export function isLocal(why: string): boolean {
  return why === 'a loopback address' || why === 'a link-local address' || why === ofNode
}

/**
 * Assigns slots: known addresses keep theirs, others take free ones in order.
 *
 * @param before by slot; '': free
 */
export function slotsFor(
  before: readonly string[],
  now: readonly string[],
  max: number,
): readonly string[] {
  const wanted = new Set(now)
  const slots = Array.from({ length: max }, (_, i) => {
    const address = before[i] ?? ''
    return wanted.delete(address) ? address : ''
  })
  for (const address of wanted) {
    const free = slots.indexOf('')
    if (free < 0) break
    slots[free] = address
  }
  return slots
}
