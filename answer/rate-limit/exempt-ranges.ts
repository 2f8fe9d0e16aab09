// Makes sorted ranges of addresses from the networks that are not limited.
import { parseAddress } from '#dns/address.ts'
import { disjointRanges, parseCidr } from '#routing/tables/cidr.ts'
import type { Cidr } from '#routing/tables/cidr.ts'

/** First and last address of each range, the most significant word of an address first. */
export interface ExemptRanges {
  /** One word an address. */
  readonly ipv4: Uint32Array
  /** Four. */
  readonly ipv6: Uint32Array
}

/** @param networks `192.0.2.0/24`, or an address; what is neither was refused where it came in */
export function exemptRanges(networks: readonly string[]): ExemptRanges {
  const { v4, v6 } = disjointRanges(
    networks.flatMap((text) => cidrOf(text) ?? []),
    (cidr) => cidr,
    () => true,
  )
  return {
    ipv4: Uint32Array.from(v4.flatMap(({ start, end }) => [start, end])),
    ipv6: Uint32Array.from(v6.flatMap(({ start, end }) => [...wordsOf(start), ...wordsOf(end)])),
  }
}

/** Lists that are the same need no new ranges. */
export function areSameNetworks(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((text, i) => text === other[i])
}

function cidrOf(text: string): Cidr | undefined {
  const address = parseAddress(text)
  const network = parseCidr(address.ok ? `${text}/${address.value.length * 8}` : text)
  return network.ok ? network.value : undefined
}

const wordsOf = (address: bigint): number[] =>
  [96n, 64n, 32n, 0n].map((shift) => Number((address >> shift) & 0xffff_ffffn))
