// Parses the lists of addresses and networks of the settings.
import { parseAddress } from '#dns/address.ts'
import type { Network } from '#dns/network.ts'
import { parseCidr } from './cidr.ts'

/** Leaves out invalid texts: the settings have been checked. */
export function networksOf(texts: readonly string[]): readonly Network[] {
  return texts.flatMap((text) => {
    const address = parseAddress(text)
    if (address.ok) return [{ octets: address.value, prefixBits: address.value.length * 8 }]
    const network = parseCidr(text)
    return network.ok ? [network.value] : []
  })
}
