// CIDR networks: parses them, and merges overlapping ones into disjoint ranges, longest prefix
// first.
import { formatAddress, isMappedIpv4, parseAddress } from '#dns/address.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'

export interface Cidr {
  /** 4 or 16 octets; the bits beyond the prefix are zero. */
  readonly octets: Uint8Array
  readonly prefixBits: number
}

const mappedBits = 96
const lengthForm = /^(?:0|[1-9]\d{0,2})$/

/**
 * Parses `192.0.2.0/24` or `2001:db8::/32`. A network of IPv4-mapped addresses, such as
 * `::ffff:192.0.2.0/120`, becomes the IPv4 network that it stands for.
 *
 * @returns on failure, a sentence for the author of the text
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
  if (!lengthForm.test(lengthText) || Number(lengthText) > bitsMax) {
    const family = octets.length === 4 ? 'IPv4' : 'IPv6'
    const problem = `${quote(lengthText)} is not a prefix length of ${family}`
    return err(`${problem}; write a number from 0 to ${bitsMax}`)
  }
  const prefixBits = Number(lengthText)
  const network = octets.map((octet, i) => octet & maskOctet(prefixBits, i))
  if (network.some((octet, i) => octet !== octets[i])) {
    const meant = textOf(standsFor(network, prefixBits))
    const length = prefixBits === 1 ? '1 bit' : `${prefixBits} bits`
    return err(`${text} has bits set beyond its prefix of ${length}; write ${meant}`)
  }
  return ok(standsFor(octets, prefixBits))
}

/**
 * Clears the host bits: `192.0.2.7/24` becomes 192.0.2.0/24. Text that is no network is returned
 * unchanged.
 */
export function withoutHostBits(text: string): string {
  const slash = text.indexOf('/')
  const address = parseAddress(text.slice(0, Math.max(slash, 0)))
  const lengthText = text.slice(slash + 1)
  if (!address.ok || !lengthForm.test(lengthText)) return text
  const prefixBits = Number(lengthText)
  const network = address.value.map((octet, i) => octet & maskOctet(prefixBits, i))
  const hasHostBits = network.some((octet, i) => octet !== address.value[i])
  if (!hasHostBits || prefixBits > network.length * 8) return text
  return textOf(standsFor(network, prefixBits))
}

function standsFor(octets: Uint8Array, prefixBits: number): Cidr {
  if (!isMappedIpv4(octets) || prefixBits < mappedBits) return { octets, prefixBits }
  return { octets: octets.slice(12), prefixBits: prefixBits - mappedBits }
}

function textOf({ octets, prefixBits }: Cidr): string {
  return `${formatAddress(octets)}/${prefixBits}`
}

/** Long text is shortened in messages. */
function quote(text: string): string {
  return JSON.stringify(text.length > 64 ? `${text.slice(0, 64)}…` : text)
}

function maskOctet(prefixBits: number, index: number): number {
  const bits = Math.min(Math.max(prefixBits - index * 8, 0), 8)
  return (0xff00 >> bits) & 0xff
}

/** From `start` to `end`, both included. */
export interface DisjointRange<Address, Value> {
  readonly start: Address
  readonly end: Address
  readonly value: Value
}

/** @param outer the value of the enclosing network; undefined: there is none */
type ValueOf<Item, Value> = (own: readonly [Item, ...Item[]], outer: Value | undefined) => Value

/**
 * Computes disjoint ranges in address order, in the time of a sort.
 *
 * @param valueOf the value of a network from all items of exactly this network, in the order of
 * `items`; called once for each, after the enclosing network
 */
export function disjointRanges<Item, Value>(
  items: Iterable<Item>,
  networkOf: (item: Item) => Cidr,
  valueOf: ValueOf<Item, Value>,
): {
  readonly v4: DisjointRange<number, Value>[]
  readonly v6: DisjointRange<bigint, Value>[]
} {
  const nested4: Nested<number, Item>[] = []
  const nested6: Nested<bigint, Item>[] = []
  for (const item of items) {
    const { octets, prefixBits } = networkOf(item)
    const view = new DataView(octets.buffer, octets.byteOffset)
    if (octets.length === 4) {
      const start = view.getUint32(0)
      nested4.push({ start, end: start + 2 ** (32 - prefixBits) - 1, item })
    } else {
      const start = (view.getBigUint64(0) << 64n) | view.getBigUint64(8)
      nested6.push({ start, end: start + (1n << BigInt(128 - prefixBits)) - 1n, item })
    }
  }
  return {
    v4: flatten(nested4, valueOf, (address, step) => address + step),
    v6: flatten(nested6, valueOf, (address, step) => address + BigInt(step)),
  }
}

interface Nested<Address, Item> {
  readonly start: Address
  readonly end: Address
  readonly item: Item
}

/**
 * Two networks are disjoint or nested, so a stack of the open ones is enough.
 *
 * @param move the address `step` away
 */
function flatten<Address extends number | bigint, Item, Value>(
  nested: Nested<Address, Item>[],
  valueOf: ValueOf<Item, Value>,
  move: (address: Address, step: 1 | -1) => Address,
): DisjointRange<Address, Value>[] {
  // The outer network first; stable, so that items of one network keep their order.
  nested.sort((a, b) => compare(a.start, b.start) || compare(b.end, a.end))
  const ranges: DisjointRange<Address, Value>[] = []
  const open: DisjointRange<Address, Value>[] = []
  let from: Address | undefined
  const emit = (end: Address, value: Value): void => {
    if (from !== undefined && from <= end) ranges.push({ start: from, end, value })
  }
  const close = (): void => {
    const { end, value } = open.pop()!
    emit(end, value)
    from = move(end, 1)
  }
  for (let at = 0; at < nested.length;) {
    const { start, end, item } = nested[at++]!
    const own: [Item, ...Item[]] = [item]
    for (; nested[at]?.start === start && nested[at]?.end === end; at++) own.push(nested[at]!.item)
    while (open.length > 0 && open.at(-1)!.end < start) close()
    const outer = open.at(-1)
    if (outer !== undefined) emit(move(start, -1), outer.value)
    from = start
    open.push({ start, end, value: valueOf(own, outer?.value) })
  }
  while (open.length > 0) close()
  return ranges
}

function compare<Address extends number | bigint>(a: Address, b: Address): number {
  return a < b ? -1 : Number(a > b)
}
