// Encodes and decodes echo requests and replies: ICMP (RFC 792) and ICMPv6 (RFC 4443 section 4).

export type IcmpFamily = 'v4' | 'v6'

export interface Echo {
  /** 16 bits. On a datagram socket the kernel replaces the identifier, and checks it in replies. */
  readonly identifier: number
  /** 16 bits. */
  readonly sequence: number
  /** `tokenBytes` octets in hex; only a host that has seen the request knows them. */
  readonly token: string
}

export const tokenBytes = 16
const headerBytes = 8
/** Length of an IPv4 header without options. */
const ipv4HeaderBytes = 20
const types = { v4: { request: 8, reply: 0 }, v6: { request: 128, reply: 129 } } as const

/** The kernel computes the checksum of ICMPv6, since it covers the addresses. */
export function encodeRequest(family: IcmpFamily, echo: Echo): Buffer {
  const packet = Buffer.alloc(headerBytes + tokenBytes)
  packet[0] = types[family].request
  packet.writeUInt16BE(echo.identifier, 4)
  packet.writeUInt16BE(echo.sequence, 6)
  packet.write(echo.token, headerBytes, 'hex')
  if (family === 'v4') packet.writeUInt16BE(internetChecksum(packet), 2)
  return packet
}

/**
 * @param hasIpHeader true for raw sockets of IPv4
 *
 * @returns undefined when the packet is no reply to one of our requests
 */
export function decodeReply(
  family: IcmpFamily,
  packet: Buffer,
  hasIpHeader: boolean,
): Echo | undefined {
  let start = 0
  if (hasIpHeader) {
    if (packet.length < ipv4HeaderBytes) return undefined
    start = (packet[0]! & 0x0f) * 4
    if (start < ipv4HeaderBytes) return undefined
  }
  if (packet.length !== start + headerBytes + tokenBytes) return undefined
  if (packet[start] !== types[family].reply || packet[start + 1] !== 0) return undefined
  return {
    identifier: packet.readUInt16BE(start + 4),
    sequence: packet.readUInt16BE(start + 6),
    token: packet.toString('hex', start + headerBytes),
  }
}

/**
 * RFC 1071.
 *
 * @param octets an even number of them
 */
export function internetChecksum(octets: Buffer): number {
  let sum = 0
  for (let i = 0; i < octets.length; i += 2) sum += octets.readUInt16BE(i)
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >>> 16)
  return ~sum & 0xffff
}
