// Removes from a logged query what identifies one client: the end of its address, of the client
// subnet (RFC 7871), and cookies (RFC 7873).
import { EdnsOption } from '#dns/edns-codes.ts'
import { optionPlaces } from './message-records.ts'

/** Leading bits of an address that are kept. */
const maskBits = { v4: 24, v6: 56 } as const

/** Offsets in a client subnet option: family, source prefix, scope prefix, address. */
const SubnetAt = { Family: 0, Address: 4 } as const
const ipv6Family = 2

/** @param address 4 or 16 octets */
export function maskAddress(address: Uint8Array): Uint8Array {
  const keptBytes = (address.length === 4 ? maskBits.v4 : maskBits.v6) / 8
  return address.map((octet, i) => (i < keptBytes ? octet : 0))
}

/** @returns a masked copy; undefined: the message cannot be parsed, so none of it may be kept */
export function maskMessage(message: Uint8Array): Uint8Array | undefined {
  const options = optionPlaces(message)
  if (options === undefined) return undefined
  const masked = Uint8Array.from(message)
  for (const { code, start, end } of options) {
    if (code === EdnsOption.Cookie) masked.fill(0, start, end)
    if (code !== EdnsOption.ClientSubnet || end - start < SubnetAt.Address) continue
    const family = (masked[start + SubnetAt.Family]! << 8) | masked[start + SubnetAt.Family + 1]!
    const keptBytes = (family === ipv6Family ? maskBits.v6 : maskBits.v4) / 8
    masked.fill(0, Math.min(end, start + SubnetAt.Address + keptBytes), end)
  }
  return masked
}
