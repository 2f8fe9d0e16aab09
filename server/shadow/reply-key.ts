// Makes the key by which two replies are compared: code and records, without TTLs and without SOA
// data, whose serial counts commits.
import { HeaderOffset } from '#dns/header.ts'
import { skipMessageName } from '#dns/message-name.ts'
import { RrType } from '#dns/rrtype.ts'

/** Offsets after the name: type, class, TTL, length of rdata. RFC 1035 section 4.1.3. */
const RecordAt = { Type: 0, Ttl: 4, RdataBytes: 8, Rdata: 10 } as const

/** @param reply written by this program */
export function replyKey(reply: Uint8Array, length: number): string {
  const octets = Buffer.from(reply.subarray(0, length))
  const rcode = octets[HeaderOffset.Flags2]! & 0x0f
  const hasQuestion = octets.readUInt16BE(HeaderOffset.QdCount) > 0
  const questionEnd = hasQuestion ? skipMessageName(octets, HeaderOffset.End) + 4 : HeaderOffset.End
  const records =
    octets.readUInt16BE(HeaderOffset.QdCount + 2) + octets.readUInt16BE(HeaderOffset.NsCount)
  let at = questionEnd
  for (let i = 0; i < records; i++) {
    const head = skipMessageName(octets, at)
    if (head < 0 || head + RecordAt.Rdata > length) break
    const rdata = head + RecordAt.Rdata
    const end = rdata + octets.readUInt16BE(head + RecordAt.RdataBytes)
    octets.fill(0, head + RecordAt.Ttl, head + RecordAt.RdataBytes)
    if (octets.readUInt16BE(head + RecordAt.Type) === RrType.SOA) octets.fill(0, rdata, end)
    at = end
  }
  return `${rcode} ${octets.toString('latin1', questionEnd, at)}`
}
