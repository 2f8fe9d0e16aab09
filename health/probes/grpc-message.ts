// Encodes and decodes the two messages of grpc.health.v1, each a protobuf of one field, in the
// framing of gRPC.
import { FieldWriter, readFields } from '#lib/protobuf.ts'

/** Names of `HealthCheckResponse.ServingStatus` by number. */
export const servingStatuses: readonly string[] = Object.freeze([
  'UNKNOWN',
  'SERVING',
  'NOT_SERVING',
  'SERVICE_UNKNOWN',
])
export const serving = 1
const unknown = 0

/** Length of a message's prefix: an octet for "not compressed", and four for the length. */
const prefixBytes = 5
/** Numbers of the only field of the request and of the response. */
const Field = { Service: 1, Status: 1 } as const
/** Octets for the tag and the length of the field. */
const fieldHeadBytes = 8

/** @param service at most 255 octets of ASCII */
export function healthRequest(service: string): Buffer {
  const name = Buffer.from(service)
  const writer = new FieldWriter(fieldHeadBytes + name.length)
  if (name.length > 0) writer.bytes(Field.Service, name)
  const message = writer.octets
  const prefix = Buffer.alloc(prefixBytes)
  prefix.writeUInt32BE(message.length, 1)
  return Buffer.concat([prefix, message])
}

/** @returns the serving status; undefined: the data is not one whole message */
export function readHealthResponse(data: Buffer): number | undefined {
  if (data.length < prefixBytes || data[0] !== 0) return undefined
  if (data.readUInt32BE(1) !== data.length - prefixBytes) return undefined
  const fields = readFields(data.subarray(prefixBytes))
  return fields && (fields.numbers.get(Field.Status) ?? unknown)
}
