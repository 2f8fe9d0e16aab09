// The networks that browsers measure from: a /24 of IPv4 or a /48 of IPv6, as two words of a table.
import { formatAddress, isMappedIpv4 } from '#dns/address.ts'
import { RumKind } from '#routing/rum/table.ts'

/** As an entry of the table has it. */
export interface RumNetwork {
  readonly high: number
  readonly low: number
}

/** @param octets of an address: 4 or 16 */
export function rumNetworkOf(octets: Uint8Array): RumNetwork {
  const isMapped = isMappedIpv4(octets)
  if (octets.length === 4 || isMapped) {
    const at = isMapped ? 12 : 0
    return { high: (octets[at]! << 16) | (octets[at + 1]! << 8) | octets[at + 2]!, low: RumKind.V4 }
  }
  const high = (octets[0]! << 24) | (octets[1]! << 16) | (octets[2]! << 8) | octets[3]!
  return { high: high >>> 0, low: RumKind.V6 | (octets[4]! << 8) | octets[5]! }
}

/** The reverse, as people write it. */
export function rumNetworkText({ high, low }: RumNetwork): string {
  if (low === RumKind.V4) {
    return `${formatAddress(Uint8Array.of(high >>> 16, high >>> 8, high, 0))}/24`
  }
  const octets = new Uint8Array(16)
  octets.set([high >>> 24, high >>> 16, high >>> 8, high, low >>> 8, low])
  return `${formatAddress(octets)}/48`
}
