// Prints the answer section of a DNS message in zone-file format.
import { HeaderOffset } from '#dns/header.ts'
import { formatName } from '#dns/name.ts'
import { RrType, rrTypeNames } from '#dns/rrtype.ts'

/** RFC 1035 section 2.3.4; as many labels as that many octets can hold. */
const labelsMax = 128

/**
 * `www.example.com. 60 IN A 192.0.2.1`, one for each of `count` records behind one question.
 *
 * @param message made by our own answer path: not for messages from a network
 */
export function answerRecords(message: Uint8Array, count: number): readonly string[] {
  const view = new DataView(message.buffer, message.byteOffset, message.byteLength)
  const question = readName(message, HeaderOffset.End)
  let at = question.end + 4
  const records: string[] = []
  for (let i = 0; i < count; i++) {
    const owner = readName(message, at)
    const type = view.getUint16(owner.end)
    const ttlSeconds = view.getUint32(owner.end + 4)
    const length = view.getUint16(owner.end + 8)
    const start = owner.end + 10
    const name = rrTypeNames[type] ?? `TYPE${type}`
    records.push(
      `${owner.text} ${ttlSeconds} IN ${name} ${rdataText(message, type, start, length)}`,
    )
    at = start + length
  }
  return records
}

function rdataText(message: Uint8Array, type: number, start: number, length: number): string {
  const rdata = message.subarray(start, start + length)
  switch (type) {
    case RrType.A:
      return rdata.join('.')
    case RrType.AAAA:
      return addressText(rdata)
    case RrType.NS:
    case RrType.CNAME:
      return readName(message, start).text
    case RrType.SOA:
      return soaText(message, start)
    case RrType.TXT:
    case RrType.HINFO:
      return stringsText(rdata)
    default:
      // RFC 3597 section 5.
      return `\\# ${length} ${Buffer.from(rdata).toString('hex')}`.trimEnd()
  }
}

/** The shortest form, RFC 5952: the one that a URL has. */
function addressText(rdata: Uint8Array): string {
  const groups = Array.from({ length: 8 }, (_, i) =>
    ((rdata[2 * i]! << 8) | rdata[2 * i + 1]!).toString(16),
  )
  return new URL(`http://[${groups.join(':')}]`).hostname.slice(1, -1)
}

function soaText(message: Uint8Array, start: number): string {
  const mname = readName(message, start)
  const rname = readName(message, mname.end)
  const numbers = Buffer.from(message.subarray(rname.end, rname.end + 20))
  const words = [0, 4, 8, 12, 16].map((offset) => numbers.readUInt32BE(offset))
  return [mname.text, rname.text, ...words].join(' ')
}

function stringsText(rdata: Uint8Array): string {
  const strings: string[] = []
  for (let at = 0; at < rdata.length; at += 1 + rdata[at]!) {
    strings.push(
      JSON.stringify(Buffer.from(rdata.subarray(at + 1, at + 1 + rdata[at]!)).toString('latin1')),
    )
  }
  return strings.join(' ')
}

/** A name with its pointers followed. @returns where what comes after it starts */
function readName(message: Uint8Array, start: number): { text: string; end: number } {
  const labels: Uint8Array[] = []
  let at = start
  let end = -1
  for (let steps = 0; steps < labelsMax; steps++) {
    const octet = message[at]!
    if (octet === 0) break
    if (octet >= 0xc0) {
      if (end < 0) end = at + 2
      at = ((octet & 0x3f) << 8) | message[at + 1]!
      continue
    }
    labels.push(message.subarray(at, at + 1 + octet))
    at += 1 + octet
  }
  const wire = Buffer.concat([...labels, Buffer.of(0)])
  return { text: formatName(wire), end: end < 0 ? at + 1 : end }
}
