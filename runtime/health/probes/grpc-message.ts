// The two messages of grpc.health.v1, each a protobuf of one field, in the framing of gRPC.

/** `HealthCheckResponse.ServingStatus`, by its number. */
export const servingStatuses: readonly string[] = Object.freeze([
  'UNKNOWN',
  'SERVING',
  'NOT_SERVING',
  'SERVICE_UNKNOWN',
])
export const serving = 1

/** One octet that says "not compressed", four that hold the length. */
const prefixBytes = 5
const WireType = { Varint: 0, Fixed64: 1, Bytes: 2, Fixed32: 5 } as const

/** @param service at most 255 octets of ASCII */
export function healthRequest(service: string): Buffer {
  const name = Buffer.from(service)
  const field = [(1 << 3) | WireType.Bytes, ...varint(name.length)]
  const message = name.length === 0 ? name : Buffer.concat([Buffer.from(field), name])
  const prefix = Buffer.alloc(prefixBytes)
  prefix.writeUInt32BE(message.length, 1)
  return Buffer.concat([prefix, message])
}

function varint(value: number): number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...varint(value >>> 7)]
}

/** @returns the serving status, or undefined for what is not one whole message */
export function readHealthResponse(data: Buffer): number | undefined {
  if (data.length < prefixBytes || data[0] !== 0) return undefined
  if (data.readUInt32BE(1) !== data.length - prefixBytes) return undefined
  const reader = new Reader(data.subarray(prefixBytes))
  let status = 0
  while (!reader.isAtEnd) {
    const tag = reader.varint()
    const [field, wireType] = [Math.floor(tag / 8), tag % 8]
    if (field === 1 && wireType === WireType.Varint) status = reader.varint()
    else reader.skip(wireType)
    if (reader.isBroken) return undefined
  }
  return status
}

/** Each step moves ahead or breaks off. */
class Reader {
  isBroken = false
  readonly #octets: Uint8Array
  #at = 0

  constructor(octets: Uint8Array) {
    this.#octets = octets
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#octets.length
  }

  varint(): number {
    let value = 0
    // Ten octets hold 64 bits; what does not fit a double exactly is none of our numbers.
    for (let i = 0; i < 10; i++) {
      const octet = this.#octets[this.#at++]
      if (octet === undefined) break
      value += (octet & 0x7f) * 2 ** (7 * i)
      if (octet < 0x80) return value
    }
    this.isBroken = true
    return 0
  }

  /** A field that this version does not know. */
  skip(wireType: number): void {
    if (wireType === WireType.Varint) this.varint()
    else if (wireType === WireType.Fixed64) this.#at += 8
    else if (wireType === WireType.Fixed32) this.#at += 4
    else if (wireType === WireType.Bytes) this.#at += this.varint()
    else this.isBroken = true
    if (this.#at > this.#octets.length) this.isBroken = true
  }
}
