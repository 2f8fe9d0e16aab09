// Packs records into octets for the history of transfers; objects would take ten times the memory.
import type { ZoneRecord } from './zone-records.ts'

/** Type, TTL, and the length of the data. */
const fixedBytes = 8

/** One after the other: octets of the owner, the owner, type, TTL, octets of the data, the data. */
export function packRecords(records: readonly ZoneRecord[]): Uint8Array {
  let length = 0
  for (const { owner, rdata } of records) length += 1 + owner.length + fixedBytes + rdata.length
  const packed = Buffer.allocUnsafeSlow(length)
  let at = 0
  for (const { owner, type, ttlSeconds, rdata } of records) {
    at = packed.writeUInt8(owner.length, at)
    packed.set(owner, at)
    at = packed.writeUInt16BE(type, at + owner.length)
    at = packed.writeUInt32BE(ttlSeconds, at)
    at = packed.writeUInt16BE(rdata.length, at)
    packed.set(rdata, at)
    at += rdata.length
  }
  return packed
}

export function* unpackRecords(packed: Uint8Array): Generator<ZoneRecord> {
  const view = new DataView(packed.buffer, packed.byteOffset, packed.length)
  for (let at = 0; at < packed.length;) {
    const ownerEnd = at + 1 + packed[at]!
    const start = ownerEnd + fixedBytes
    const end = start + view.getUint16(ownerEnd + 6)
    yield {
      owner: packed.subarray(at + 1, ownerEnd),
      type: view.getUint16(ownerEnd),
      ttlSeconds: view.getUint32(ownerEnd + 2),
      rdata: packed.subarray(start, end),
    }
    at = end
  }
}
