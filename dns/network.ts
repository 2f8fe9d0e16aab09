// Tells whether an address lies in a block, and which blocks are not public.
import { assert } from '#lib/assert.ts'
import { isMappedIpv4, parseAddress } from './address.ts'

export interface Network {
  /** 4 or 16. */
  readonly octets: Uint8Array
  readonly prefixBits: number
}

/** False for an address of the other family. */
export function isInNetwork(address: Uint8Array, { octets, prefixBits }: Network): boolean {
  if (address.length !== octets.length) return false
  for (let i = 0; i * 8 < prefixBits; i++) {
    const mask = ~(0xff >>> Math.min(8, prefixBits - i * 8)) & 0xff
    if (((address[i]! ^ octets[i]!) & mask) !== 0) return false
  }
  return true
}

/**
 * True for addresses that a server of ours must not be led to by a name or an address that others
 * wrote: this host, this link, private and shared networks, groups, ranges that no server on the
 * Internet has, and the metadata addresses of clouds. An IPv6 address that stands for an IPv4
 * address is judged by that one.
 */
export function isInternalAddress(address: Uint8Array): boolean {
  return isAmong(internalNetworks, address)
}

/** True for this host, this link, and the metadata addresses of clouds, judged in the same way. */
export function isLocalAddress(address: Uint8Array): boolean {
  return isAmong(localNetworks, address)
}

function isAmong(networks: readonly Network[], address: Uint8Array): boolean {
  if (networks.some((network) => isInNetwork(address, network))) return true
  const embedding = embeddings.find(({ network }) => isInNetwork(address, network))
  if (embedding === undefined) return false
  return isAmong(networks, address.subarray(embedding.at, embedding.at + 4))
}

/** @param allowed networks that may be reached though they are internal */
export function isForbiddenAddress(address: Uint8Array, allowed: readonly Network[]): boolean {
  const plain = isMappedIpv4(address) ? address.subarray(12) : address
  return isInternalAddress(plain) && !allowed.some((network) => isInNetwork(plain, network))
}

/**
 * Blocks that the registries of special-purpose addresses (RFC 6890; iana-ipv4- and
 * iana-ipv6-special-registry) call not globally reachable, groups, and blocks once reserved. The
 * few reachable parts of `192.0.0.0/24` and `2001::/23` are services of the own network, or no
 * place for a server.
 */
const internalNetworks = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  // Documentation (RFC 5737), here and below.
  '192.0.2.0/24',
  // 6to4 relays, withdrawn by RFC 7526: any network may announce the prefix and get the requests.
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
  // Azure's platform server, as its guests see it.
  '168.63.129.16/32',
  '::/128',
  '::1/128',
  // NAT64 within a network (RFC 8215): nobody outside knows the address behind it.
  '64:ff9b:1::/48',
  // Discard-only (RFC 6666), and the dummy prefix next to it (RFC 9780).
  '100::/64',
  '100:0:0:1::/64',
  // Protocols of the IETF. Teredo (RFC 4380), among them, hides the address behind it.
  '2001::/23',
  // Documentation (RFC 3849 and 9637).
  '2001:db8::/32',
  '3fff::/20',
  // Segments of SRv6 (RFC 9602), within a network.
  '5f00::/16',
  'fc00::/7',
  'fe80::/10',
  'fec0::/10',
  'ff00::/8',
].map(network)

const localNetworks = [
  '0.0.0.0/8',
  '127.0.0.0/8',
  '169.254.0.0/16',
  'fe80::/10',
  // Metadata at Azure, Oracle, Alibaba; Amazon, Google.
  '168.63.129.16/32',
  '192.0.0.192/32',
  '100.100.100.200/32',
  'fd00:ec2::/32',
  'fd20:ce::/64',
].map(network)

/** Prefixes that embed an IPv4 address, and its offset in octets. */
const embeddings = [
  { network: network('::ffff:0:0/96'), at: 12 },
  { network: network('::ffff:0:0:0/96'), at: 12 },
  { network: network('::/96'), at: 12 },
  { network: network('64:ff9b::/96'), at: 12 },
  { network: network('2002::/16'), at: 2 },
] as const

function network(text: string): Network {
  const [address = '', prefix] = text.split('/')
  const octets = parseAddress(address)
  assert(octets.ok, 'the networks of these tables are written correctly')
  return { octets: octets.value, prefixBits: Number(prefix) }
}
