// Writes PROXY protocol headers, version 2, as load balancers send them. Independent of the reader.
import { parseAddress } from '#dns/address.ts'

interface ProxyHeaderParts {
  /** Version and command; 0x21: PROXY. */
  readonly command?: number
  /** Family and transport; left out: that of the address, as a datagram. */
  readonly family?: number
  readonly tlvs?: readonly (readonly [type: number, value: Buffer])[]
  /** Adds a checksum, right or wrong. */
  readonly checksum?: 'right' | 'wrong'
  /** A length that differs from the true one. */
  readonly length?: number
}

const signature = Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1')

/** @param client address and port */
export function proxyHeader(
  client: string,
  port: number,
  { command = 0x21, family, tlvs = [], checksum, length }: ProxyHeaderParts = {},
): Buffer {
  const address = addressOf(client)
  const ports = Buffer.alloc(4)
  ports.writeUInt16BE(port)
  ports.writeUInt16BE(53, 2)
  const sums = checksum === undefined ? [] : [tlv(3, Buffer.alloc(4))]
  const values = tlvs.map(([type, value]) => tlv(type, value))
  // The proxy's own address, which nobody reads.
  const own = Buffer.alloc(address.length, 1)
  const block = Buffer.concat([address, own, ports, ...values, ...sums])
  const header = Buffer.concat([head(command, family ?? familyOf(address), block, length), block])
  if (checksum === undefined) return header
  const sum = bitwiseCrc32c(header) ^ (checksum === 'right' ? 0 : 1)
  header.writeInt32BE(sum | 0, header.length - 4)
  return header
}

/** The header of a load balancer's own health check. */
export function localHeader(): Buffer {
  return head(0x20, 0, Buffer.alloc(0))
}

function head(command: number, family: number, block: Buffer, length = block.length): Buffer {
  const rest = Buffer.from([command, family, length >> 8, length & 0xff])
  return Buffer.concat([signature, rest])
}

function addressOf(text: string): Buffer {
  const parsed = parseAddress(text)
  if (!parsed.ok) throw new Error(`${text} is no address`)
  return Buffer.from(parsed.value)
}

const familyOf = (address: Buffer): number => (address.length === 4 ? 0x12 : 0x22)

function tlv(type: number, value: Buffer): Buffer {
  return Buffer.concat([Buffer.from([type, value.length >> 8, value.length & 0xff]), value])
}

function bitwiseCrc32c(octets: Buffer): number {
  let crc = 0xffff_ffff
  for (const octet of octets) {
    crc ^= octet
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0x82f6_3b78 : crc >>> 1
  }
  return ~crc
}
