// Builds the query of a dns probe, and validates the response.
import { formatAddress } from '#dns/address.ts'
import { Flag1, HeaderOffset, QClass } from '#dns/header.ts'
import { readMessageName, skipMessageName } from '#dns/message-name.ts'
import { foldTable, formatName } from '#dns/name.ts'

/** Codes of the types that a check may ask for: RFC 1035 section 3.2.2; AAAA: RFC 3596. */
export const dnsTypeCodes = Object.freeze({
  A: 1,
  NS: 2,
  CNAME: 5,
  SOA: 6,
  PTR: 12,
  MX: 15,
  TXT: 16,
  AAAA: 28,
} as const)
type DnsTypeCode = (typeof dnsTypeCodes)[keyof typeof dnsTypeCodes]

/**
 * @param name in wire form
 *
 * @returns a message with one question, recursion desired
 */
export function dnsQuery(id: number, name: Uint8Array, type: DnsTypeCode): Buffer {
  const query = Buffer.alloc(HeaderOffset.End + name.length + 4)
  query.writeUInt16BE(id, HeaderOffset.Id)
  query[HeaderOffset.Flags1] = Flag1.Rd
  query.writeUInt16BE(1, HeaderOffset.QdCount)
  query.set(name, HeaderOffset.End)
  query.writeUInt16BE(type, query.length - 4)
  query.writeUInt16BE(QClass.In, query.length - 2)
  return query
}

/** Whether a message is a response with the same id and question; case may differ. */
export function fitsQuery(message: Buffer, query: Buffer): boolean {
  if (message.length < HeaderOffset.End) return false
  if (message.readUInt16BE(HeaderOffset.Id) !== query.readUInt16BE(HeaderOffset.Id)) return false
  const flags = message[HeaderOffset.Flags1]!
  if ((flags & Flag1.Qr) === 0 || (flags & Flag1.OpcodeMask) !== 0) return false
  // A server that cannot or will not read the question may omit it.
  if (message.length === HeaderOffset.End) return rcodeOf(message) !== 0
  if (message.readUInt16BE(HeaderOffset.QdCount) !== 1 || message.length < query.length)
    return false
  for (let i = HeaderOffset.End; i < query.length; i++) {
    if (foldTable[message[i]!] !== foldTable[query[i]!]) return false
  }
  return true
}

export function isCut(message: Buffer): boolean {
  return (message[HeaderOffset.Flags1]! & Flag1.Tc) !== 0
}

export function rcodeOf(message: Buffer): number {
  return message[HeaderOffset.Flags2]! & 0x0f
}

/**
 * Rdata of the records of one type in the answer section, in the form of `dig +short`.
 *
 * @param message answers the query
 * @returns undefined when it is malformed
 */
export function answerTexts(message: Buffer, query: Buffer): readonly string[] | undefined {
  const type = query.readUInt16BE(query.length - 4) as DnsTypeCode
  const count = message.readUInt16BE(HeaderOffset.AnCount)
  const texts: string[] = []
  let at = query.length
  for (let i = 0; i < count; i++) {
    const fixed = skipMessageName(message, at)
    if (fixed === -1 || fixed + 10 > message.length) return undefined
    const start = fixed + 10
    const end = start + message.readUInt16BE(fixed + 8)
    if (end > message.length) return undefined
    if (message.readUInt16BE(fixed) === type && message.readUInt16BE(fixed + 2) === QClass.In) {
      const text = rdataText(message, start, end, type)
      if (text === undefined) return undefined
      texts.push(text)
    }
    at = end
  }
  return texts
}

/** @returns undefined when the rdata does not fill `start` to `end` */
function rdataText(
  message: Buffer,
  start: number,
  end: number,
  type: DnsTypeCode,
): string | undefined {
  switch (type) {
    case dnsTypeCodes.A:
      return end - start === 4 ? formatAddress(message.subarray(start, end)) : undefined
    case dnsTypeCodes.AAAA:
      return end - start === 16 ? formatAddress(message.subarray(start, end)) : undefined
    case dnsTypeCodes.NS:
    case dnsTypeCodes.CNAME:
    case dnsTypeCodes.PTR:
      return skipMessageName(message, start) === end ? nameText(message, start) : undefined
    case dnsTypeCodes.MX: {
      if (end - start < 3 || skipMessageName(message, start + 2) !== end) return undefined
      const exchange = nameText(message, start + 2)
      return exchange && `${message.readUInt16BE(start)} ${exchange}`
    }
    case dnsTypeCodes.SOA:
      return soaText(message, start, end)
    case dnsTypeCodes.TXT:
      return txtText(message, start, end)
  }
}

function soaText(message: Buffer, start: number, end: number): string | undefined {
  const second = skipMessageName(message, start)
  const numbers = second === -1 ? -1 : skipMessageName(message, second)
  if (numbers === -1 || numbers + 20 !== end) return undefined
  const [mname, rname] = [nameText(message, start), nameText(message, second)]
  if (mname === undefined || rname === undefined) return undefined
  const rest = [0, 4, 8, 12, 16].map((offset) => message.readUInt32BE(numbers + offset))
  return [mname, rname, ...rest].join(' ')
}

/** Joins the strings, as RFC 7208 section 3.3 does. */
function txtText(message: Buffer, start: number, end: number): string | undefined {
  const pieces: Buffer[] = []
  for (let at = start; at < end;) {
    const next = at + 1 + message[at]!
    if (next > end) return undefined
    pieces.push(message.subarray(at + 1, next))
    at = next
  }
  return Buffer.concat(pieces).toString()
}

function nameText(message: Buffer, start: number): string | undefined {
  const name = readMessageName(message, start)
  return name && formatName(name.wire)
}
