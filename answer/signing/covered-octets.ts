// Builds the octets that a signature covers: RFC 4034 section 3.1.8.1. Each thread has a builder of
// its own, whose result is valid until the next call.
import { formBits } from '#bundle/format/rrsets.ts'
import { QClass } from '#dns/header.ts'
import { canonicalRdata, rdataTypeOf } from '#dns/rdata/rdata-types.ts'
import { ownerAt } from './rrset-digest.ts'
import type { RrsetDigest } from './rrset-digest.ts'

/** Size of the reused buffer: larger rrsets, which are rare, get one of their own. */
const octetsMax = 4_096
/** Type, class, TTL. */
const fixedBytes = 8
/** The length before each rdata, as in a message. */
const lengthBytes = 2

export class CoveredOctets {
  readonly #octets = new Uint8Array(octetsMax)

  /**
   * @param rrset which has been read
   * @param head where rdata of the RRSIG record begins in `reply`
   * @param headEnd its signature
   */
  of(
    rrset: RrsetDigest,
    type: number,
    reply: Uint8Array,
    head: number,
    headEnd: number,
  ): Uint8Array {
    const records = recordsOf(rrset, type)
    const { octets: from, ownerBytes, ttlSeconds } = rrset
    let bytes = headEnd - head + records.length * (ownerBytes + fixedBytes)
    for (const record of records) bytes += record.length
    const to = bytes > octetsMax ? new Uint8Array(bytes) : this.#octets
    to.set(reply.subarray(head, headEnd))
    const view = new DataView(to.buffer)
    let at = headEnd - head
    for (const record of records) {
      for (let i = 0; i < ownerBytes; i++) to[at++] = from[ownerAt + i]!
      view.setInt32(at, (type << 16) | QClass.In)
      view.setInt32(at + 4, ttlSeconds)
      to.set(record, at + fixedBytes)
      at += fixedBytes + record.length
    }
    return to.subarray(0, bytes)
  }
}

/** Lists each record once, in canonical form and order, after its length. RFC 4034 section 6. */
function recordsOf({ octets, recordAt, recordCount }: RrsetDigest, type: number): Uint8Array[] {
  const records: Uint8Array[] = []
  for (let i = 0; i < recordCount; i++) {
    const at = recordAt[i]!
    const end = at + lengthBytes + ((octets[at]! << 8) | octets[at + 1]!)
    // Names in types of a form are in lower case already.
    if (formBits[type] === 0) fold(type, octets.subarray(at + lengthBytes, end))
    records.push(octets.subarray(at, end))
  }
  if (recordCount === 1) return records
  records.sort(inOrder)
  return records.filter((one, i) => i === 0 || inOrder(one, records[i - 1]!) !== 0)
}

function fold(type: number, rdata: Uint8Array): void {
  const canonical = canonicalRdata(rdataTypeOf(type), rdata)
  if (canonical !== rdata) rdata.set(canonical)
}

const inOrder = (a: Uint8Array, b: Uint8Array): number =>
  Buffer.compare(a.subarray(lengthBytes), b.subarray(lengthBytes))
