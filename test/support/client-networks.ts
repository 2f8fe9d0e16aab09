// Clients and networks as 128 bits, IPv4 mapped into IPv6, with containment by comparing bits:
// independent of routing/, to compare with it.
import type { Random } from '#lib/random.ts'

/** Four words, the most significant first. IPv4 is ::ffff:0:0/96. */
type Bits128 = readonly [number, number, number, number]

export interface Network {
  readonly cidr: string
  readonly first: Bits128
  readonly mask: Bits128
  /** Bits of 128. */
  readonly length: number
}

export interface Client {
  readonly bits: Bits128
  readonly isIpv4: boolean
}

/** Small universes, so that networks nest and clients hit them. */
const universe4 = 0x0a00_0000
const universe6 = 0x2001_0db8
const mapped = 0xffff

export function isIn({ bits }: Client, { first, mask }: Network): boolean {
  return (
    ((bits[0] ^ first[0]) & mask[0]) === 0 &&
    ((bits[1] ^ first[1]) & mask[1]) === 0 &&
    ((bits[2] ^ first[2]) & mask[2]) === 0 &&
    ((bits[3] ^ first[3]) & mask[3]) === 0
  )
}

/** The network with the longest prefix that contains the client; among equals the last. */
export function longest<T extends { readonly network: Network }>(
  client: Client,
  all: readonly T[],
): T | undefined {
  let best: T | undefined
  for (const one of all) {
    const isLonger = best === undefined || one.network.length >= best.network.length
    if (isLonger && isIn(client, one.network)) best = one
  }
  return best
}

function maskOf(length: number): Bits128 {
  const word = (i: number): number => {
    const own = Math.min(32, Math.max(0, length - i * 32))
    return own === 0 ? 0 : -1 << (32 - own)
  }
  return [word(0), word(1), word(2), word(3)]
}

export function masked(bits: Bits128, length: number): Bits128 {
  const mask = maskOf(length)
  return [bits[0] & mask[0], bits[1] & mask[1], bits[2] & mask[2], bits[3] & mask[3]]
}

/** Inside 10.0.0.0/8 or 2001:db8::/32, its prefix 9 to 24 or 33 to 64 bits long. */
export function randomNetwork(random: Random): Network {
  const { bits, isIpv4 } = randomClient(random)
  const own = isIpv4 ? 9 + (random.next() % 16) : 33 + (random.next() % 32)
  const length = isIpv4 ? 96 + own : own
  const first = masked(bits, length)
  return { cidr: `${addressText(first, isIpv4)}/${own}`, first, mask: maskOf(length), length }
}

/** One client in eight is outside of the universes. */
export function randomClient(random: Random): Client {
  const isIpv4 = (random.next() & 1) === 0
  const isStrange = (random.next() & 7) === 0
  const [a, b, c] = [random.next() | 0, random.next() | 0, random.next() | 0]
  if (isIpv4) {
    const address = isStrange ? a : (universe4 | (a & 0x00ff_ffff)) >> 0
    return { bits: [0, 0, mapped, address], isIpv4 }
  }
  // No other network is in ::/8, where databases have IPv4.
  return { bits: [isStrange ? a | 0x4000_0000 : universe6, b, c, a], isIpv4 }
}

/** The least significant octets of a client: 4 or 16. */
export function octetsOf({ bits }: Client, count: 4 | 16): Uint8Array {
  const octets = new Uint8Array(16)
  const view = new DataView(octets.buffer)
  for (let i = 0; i < 4; i++) view.setInt32(i * 4, bits[i]!)
  return octets.subarray(16 - count)
}

function addressText(bits: Bits128, isIpv4: boolean): string {
  const octets = octetsOf({ bits, isIpv4 }, isIpv4 ? 4 : 16)
  if (isIpv4) return octets.join('.')
  const hex = Buffer.from(octets).toString('hex')
  return (hex.match(/.{4}/g) ?? []).join(':')
}
