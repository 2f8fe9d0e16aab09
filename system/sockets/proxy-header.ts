// Reads the header that a load balancer sends before a connection or a datagram: PROXY protocol,
// version 2, sections 2.2 to 2.2.3.
import { crc32c } from './crc32c.ts'

/** Results of `read` in place of a length. */
export const ProxyRead = {
  /** Nothing is wrong so far, but octets are missing. */
  Unfinished: 0,
  /** The octets begin with something else. */
  Absent: -1,
  Malformed: -2,
} as const

/**
 * Limit of a header with all its TLVs. It must fit the smallest segment of TCP (RFC 9293 section
 * 3.7.1), so that it can be read at once.
 */
export const proxyHeaderBytesMax = 536

const signature = Uint8Array.of(13, 10, 13, 10, 0, 13, 10, 0x51, 0x55, 0x49, 0x54, 10)
export const signatureBytes = signature.length
/** Signature, version and command, family and transport, length. */
const fixedBytes = 16
/** Version 2 in the upper half. */
const Command = { Local: 0x20, Proxy: 0x21 } as const
/** The header of a sender that speaks for itself, not for a client. */
export const ownProxyHeader = Uint8Array.of(...signature, Command.Local, 0, 0, 0)
/** In the upper half: none, IPv4, IPv6, UNIX. In the lower one: none, stream, datagram. */
const Family = { None: 0x00, V4: 0x10, V6: 0x20, Unix: 0x30 } as const
const transportMax = 2
/** Two addresses, two ports. */
const addressBytes = { v4: 12, v6: 36 } as const
const tlvHeadBytes = 3
const crc32cType = 0x03

/** Holds the last header that was read; there is one for each thread, or connection. */
export class ProxyHeader {
  /** False: the sender speaks for itself, as in a check of its own health, or names no client. */
  isClient = false
  /** 16 octets; IPv4 as ::ffff:a.b.c.d. Valid only if `isClient`. */
  readonly address = new Uint8Array(16)
  port = 0

  /** @returns octets of a whole header; or a value of `ProxyRead` */
  read(octets: Uint8Array, from: number, end: number): number {
    const signed = readSignature(octets, from, end)
    if (signed !== signatureBytes) return signed
    if (end - from < fixedBytes) return ProxyRead.Unfinished
    const command = octets[from + 12]!
    if (command !== Command.Local && command !== Command.Proxy) return ProxyRead.Malformed
    const bytes = fixedBytes + ((octets[from + 14]! << 8) | octets[from + 15]!)
    if (bytes > proxyHeaderBytesMax) return ProxyRead.Malformed
    if (end - from < bytes) return ProxyRead.Unfinished
    this.isClient = false
    // Section 2.2: whatever else a LOCAL header says is ignored.
    if (command === Command.Local) return bytes
    const isRight = this.#readAddresses(octets, from, from + bytes)
    return isRight ? bytes : ProxyRead.Malformed
  }

  #readAddresses(octets: Uint8Array, from: number, end: number): boolean {
    const family = octets[from + 13]! & 0xf0
    const transport = octets[from + 13]! & 0x0f
    if (family > Family.Unix || transport > transportMax) return false
    // Without a transport, or with a path in the file system, the connection stands for itself.
    if (family === Family.None || transport === 0) return family === Family.None && transport === 0
    if (family === Family.Unix) return true
    const at = from + fixedBytes
    const tlvs = at + (family === Family.V4 ? addressBytes.v4 : addressBytes.v6)
    if (tlvs > end || !areTlvsRight(octets, from, tlvs, end)) return false
    const { address } = this
    const octetsOfAddress = family === Family.V4 ? 4 : 16
    const mapped = 16 - octetsOfAddress
    for (let i = 0; i < mapped; i++) address[i] = i < 10 ? 0 : 0xff
    for (let i = 0; i < octetsOfAddress; i++) address[mapped + i] = octets[at + i]!
    const port = at + 2 * octetsOfAddress
    this.port = (octets[port]! << 8) | octets[port + 1]!
    this.isClient = true
    return true
  }
}

/** @returns 12 when the octets begin with the signature; else a value of `ProxyRead` */
export function readSignature(octets: Uint8Array, from: number, end: number): number {
  const there = Math.min(end - from, signatureBytes)
  for (let i = 0; i < there; i++) if (octets[from + i] !== signature[i]) return ProxyRead.Absent
  return there === signatureBytes ? signatureBytes : ProxyRead.Unfinished
}

/** Skips what a sender adds; a checksum among it must be right. Section 2.2.3. */
function areTlvsRight(octets: Uint8Array, header: number, from: number, end: number): boolean {
  let checksumAt = -1
  let at = from
  while (at < end) {
    if (at + tlvHeadBytes > end) return false
    const type = octets[at]!
    const bytes = (octets[at + 1]! << 8) | octets[at + 2]!
    const value = at + tlvHeadBytes
    at = value + bytes
    if (at > end) return false
    if (type !== crc32cType) continue
    if (bytes !== 4 || checksumAt >= 0) return false
    checksumAt = value
  }
  return checksumAt < 0 || crc32c(octets, header, end, checksumAt) === int32At(octets, checksumAt)
}

function int32At(octets: Uint8Array, at: number): number {
  return (octets[at]! << 24) | (octets[at + 1]! << 16) | (octets[at + 2]! << 8) | octets[at + 3]!
}
