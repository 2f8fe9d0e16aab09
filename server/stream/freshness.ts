// Computes for how long caches of HTTP may keep a reply. RFC 8484 section 5.1.
import { HeaderOffset } from '#dns/header.ts'
import { skipMessageName } from '#dns/message-name.ts'
import { Rcode } from '#dns/rcode.ts'
import { RrType } from '#dns/rrtype.ts'

/** Behind a name: type, class, TTL, length of rdata. */
const recordHeadBytes = 10
const questionTailBytes = 4
/** RFC 2181 section 8: with the first bit set it is 0. */
const ttlMax = 0x7fff_ffff
const never = 0

/**
 * Seconds: the smallest TTL of the answers; where there are none, what the SOA says of a negative
 * answer (RFC 2308 section 5). 0: of an error, a referral, and what cannot be read.
 */
export function freshSeconds(reply: Uint8Array): number {
  const octets = Buffer.from(reply.buffer, reply.byteOffset, reply.length)
  if (octets.length < HeaderOffset.End) return never
  const rcode = octets[HeaderOffset.Flags2]! & 0x0f
  if (rcode !== Rcode.NoError && rcode !== Rcode.NXDomain) return never
  const answers = octets.readUInt16BE(HeaderOffset.AnCount)
  const authority = octets.readUInt16BE(HeaderOffset.NsCount)
  let at = afterQuestions(octets)
  let smallest = Infinity
  for (let i = 0; i < answers + authority && at >= 0; i++) {
    const head = skipMessageName(octets, at)
    if (head < 0 || head + recordHeadBytes > octets.length) return never
    const end = head + recordHeadBytes + octets.readUInt16BE(head + 8)
    if (end > octets.length) return never
    const ttl = octets.readUInt32BE(head + 4)
    const isSoa = octets.readUInt16BE(head) === RrType.SOA
    if (i < answers) smallest = Math.min(smallest, ttl > ttlMax ? 0 : ttl)
    else if (isSoa) smallest = Math.min(smallest, ttl, octets.readUInt32BE(end - 4))
    at = end
  }
  return at < 0 || smallest === Infinity ? never : smallest
}

/** @returns -1: the message is not what its header says */
function afterQuestions(octets: Buffer): number {
  let at: number = HeaderOffset.End
  for (let left = octets.readUInt16BE(HeaderOffset.QdCount); left > 0; left--) {
    const end = skipMessageName(octets, at)
    if (end < 0 || end + questionTailBytes > octets.length) return -1
    at = end + questionTailBytes
  }
  return at
}
