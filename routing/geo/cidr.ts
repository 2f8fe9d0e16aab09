// Networks in CIDR notation: their text, and many of them as disjoint ranges, longest prefix first.
import { formatAddress, isMappedIpv4, parseAddress } from '#dns/address.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import type { Range4, Range6 } from './range-table-builder.ts'

export interface Cidr {
  /** 4 or 16 octets; the bits beyond the prefix are zero. */
  readonly octets: Uint8Array
  readonly prefixBits: number
}

const mappedBits = 96

/**
 * Reads `192.0.2.0/24` or `2001:db8::/32`. A network of IPv4-mapped addresses, such as
 * `::ffff:192.0.2.0/120`, is given as the IPv4 network that it stands for.
 *
 * @returns an error as a sentence for whoever wrote the text
 */
export function parseCidr(text: string): Result<Cidr, string> {
  const slash = text.indexOf('/')
  const addressText = slash === -1 ? text : text.slice(0, slash)
  const address = parseAddress(addressText)
  if (!address.ok) {
    return err(`${quote(text)} is not a network; write one as 192.0.2.0/24 or 2001:db8::/32`)
  }
  const octets = address.value
  const bitsMax = octets.length * 8
  if (slash === -1) {
    return err(`${text} has no prefix length; for this one address write ${text}/${bitsMax}`)
  }
  const lengthText = text.slice(slash + 1)
  if (!/^(?:0|[1-9]\d{0,2})$/.test(lengthText) || Number(lengthText) > bitsMax) {
    const family = octets.length === 4 ? 'IPv4' : 'IPv6'
    const problem = `${quote(lengthText)} is not a prefix length of ${family}`
    return err(`${problem}; write a number from 0 to ${bitsMax}`)
  }
  const prefixBits = Number(lengthText)
  const network = octets.map((octet, i) => octet & maskOctet(prefixBits, i))
  if (network.some((octet, i) => octet !== octets[i])) {
    const meant = `${formatAddress(network)}/${prefixBits}`
    const length = prefixBits === 1 ? '1 bit' : `${prefixBits} bits`
    return err(`${text} has bits set beyond its prefix of ${length}; write ${meant}`)
  }
  if (isMappedIpv4(octets) && prefixBits >= mappedBits) {
    return ok({ octets: octets.slice(12), prefixBits: prefixBits - mappedBits })
  }
  return ok({ octets, prefixBits })
}

/** Long and strange text is not repeated in full. */
function quote(text: string): string {
  return JSON.stringify(text.length > 64 ? `${text.slice(0, 64)}…` : text)
}

function maskOctet(prefixBits: number, index: number): number {
  const bits = Math.min(Math.max(prefixBits - index * 8, 0), 8)
  return (0xff00 >> bits) & 0xff
}

export interface ValuedCidr extends Cidr {
  readonly value: number
}

/**
 * Disjoint ranges in the order of their addresses, where each address has the value of the longest
 * prefix that holds it. Of equal prefixes the one that comes first wins.
 */
export function prefixesToRanges(prefixes: Iterable<ValuedCidr>): {
  ranges4: Range4[]
  ranges6: Range6[]
} {
  const nested4: Nested<number>[] = []
  const nested6: Nested<bigint>[] = []
  for (const { octets, prefixBits, value } of prefixes) {
    if (octets.length === 4) {
      const start = new DataView(octets.buffer, octets.byteOffset).getUint32(0)
      nested4.push({ start, end: start + 2 ** (32 - prefixBits) - 1, prefixBits, value })
    } else {
      const view = new DataView(octets.buffer, octets.byteOffset)
      const start = (view.getBigUint64(0) << 64n) | view.getBigUint64(8)
      const end = start + (1n << BigInt(128 - prefixBits)) - 1n
      nested6.push({ start, end, prefixBits, value })
    }
  }
  return {
    ranges4: flatten(nested4, (address, step) => address + step),
    ranges6: flatten(nested6, (address, step) => address + BigInt(step)),
  }
}

interface Nested<Address> {
  readonly start: Address
  readonly end: Address
  readonly prefixBits: number
  readonly value: number
}

interface Flat<Address> {
  readonly start: Address
  readonly end: Address
  readonly value: number
}

/**
 * Two prefixes are apart or one holds the other, so a stack of the open ones is enough.
 *
 * @param move the address `step` away
 */
function flatten<Address extends number | bigint>(
  prefixes: Nested<Address>[],
  move: (address: Address, step: 1 | -1) => Address,
): Flat<Address>[] {
  // Stable, so that the first of equal prefixes stays first.
  prefixes.sort((a, b) => compare(a.start, b.start) || a.prefixBits - b.prefixBits)
  const flat: Flat<Address>[] = []
  const open: Nested<Address>[] = []
  let from: Address | undefined
  const emit = (end: Address, value: number): void => {
    if (from !== undefined && from <= end) flat.push({ start: from, end, value })
  }
  const close = (): void => {
    const { end, value } = open.pop()!
    emit(end, value)
    from = move(end, 1)
  }
  for (const prefix of prefixes) {
    while (open.length > 0 && open.at(-1)!.end < prefix.start) close()
    const outer = open.at(-1)
    if (outer?.start === prefix.start && outer.prefixBits === prefix.prefixBits) continue
    if (outer !== undefined) emit(move(prefix.start, -1), outer.value)
    from = prefix.start
    open.push(prefix)
  }
  while (open.length > 0) close()
  return flat
}

function compare<Address extends number | bigint>(a: Address, b: Address): number {
  return a < b ? -1 : Number(a > b)
}
