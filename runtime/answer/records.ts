// Writes resource records into the reply: owner by pointer, rdata from the bundle. RFC 1035 section
// 4.1.3.
import { address6Row, nodeNameBytes } from '#bundle/format/bundle.ts'
import type { Bundle } from '#bundle/format/bundle.ts'
import { nsEntry, soaEntry, storedName } from '#bundle/format/records.ts'
import * as header from '#dns/header.ts'
import * as rrtypes from '#dns/rrtype.ts'
import * as routingQuery from '#routing/state/query.ts'
import type { Family } from '#routing/state/query.ts'
import type { Transaction } from './transaction.ts'

// Constants of this file, for the reason that answer.ts gives.
const { HeaderOffset, QClass } = header
const { RrType } = rrtypes
const { V4: v4 } = routingQuery.Family

/**
 * Pointer, type, class, TTL, RDLENGTH: an owner is always a name that stands in the message
 * already.
 */
const rrHeaderBytes = 12

/** Where qname starts in every message. */
export const qnameOffset = HeaderOffset.End

/**
 * Writes all of a record but its rdata, if all of it fits.
 *
 * @param owner offset of the owner name from the start of the message
 * @returns false, with nothing written, when it does not fit
 */
function writeRrHeader(
  tx: Transaction,
  owner: number,
  type: number,
  ttlSeconds: number,
  rdataBytes: number,
): boolean {
  const { replyView, at } = tx
  if (at + rrHeaderBytes + rdataBytes > tx.recordsEnd) return false
  replyView.setInt32(at, ((0xc000 | owner) << 16) | type)
  replyView.setInt32(at + 4, (QClass.In << 16) | (ttlSeconds >>> 16))
  replyView.setInt32(at + 8, (ttlSeconds << 16) | rdataBytes)
  tx.at = at + rrHeaderBytes
  return true
}

/** Writes an A or AAAA record of the octets at `from`. @returns false when it does not fit */
export function writeAddress(
  tx: Transaction,
  owner: number,
  family: Family,
  ttlSeconds: number,
  addresses: Uint8Array,
  from: number,
): boolean {
  const bytes = family === v4 ? 4 : 16
  const type = family === v4 ? RrType.A : RrType.AAAA
  if (!writeRrHeader(tx, owner, type, ttlSeconds, bytes)) return false
  const { reply, at } = tx
  for (let i = 0; i < bytes; i++) reply[at + i] = addresses[from + i]!
  tx.at = at + bytes
  return true
}

/** Writes the address of a member under qname. @returns false when it does not fit */
export function writeMember(
  tx: Transaction,
  bundle: Bundle,
  member: number,
  family: Family,
  ttlSeconds: number,
): boolean {
  const isIpv4 = family === v4
  const octets = isIpv4 ? bundle.memberAddress : bundle.memberAddress6
  const from = isIpv4 ? member * 4 : address6Row(bundle, member) * 16
  return writeAddress(tx, qnameOffset, family, ttlSeconds, octets, from)
}

/** Offset of a zone's apex inside qname; the zone encloses qname. */
function apexOffset(tx: Transaction, bundle: Bundle, zone: number): number {
  return qnameOffset + tx.qnameBytes - nodeNameBytes(bundle, bundle.zoneNode[zone]!)
}

/**
 * @param isNegative in the authority section of NXDOMAIN or NODATA: RFC 2308 section 3 sets the TTL
 */
export function writeSoa(
  tx: Transaction,
  bundle: Bundle,
  zone: number,
  isNegative: boolean,
): boolean {
  const data = bundle.soaData
  const entry = bundle.zoneSoa[zone]!
  const ttlSeconds = readU32(data, entry + (isNegative ? soaEntry.negativeTtl : soaEntry.ttl))
  const apex = apexOffset(tx, bundle, zone)
  const mname = entry + soaEntry.names
  const rname = mname + storedName.labels + data[mname]!
  const timers = rname + storedName.labels + data[rname]!
  const rdataBytes = nameBytes(data, mname) + nameBytes(data, rname) + 4 + soaEntry.timersBytes
  if (!writeRrHeader(tx, apex, RrType.SOA, ttlSeconds, rdataBytes)) return false
  writeStoredName(tx, data, mname, apex)
  writeStoredName(tx, data, rname, apex)
  const serial = tx.view!.state.soaSerial[0]!
  const { reply, at } = tx
  reply[at] = serial >>> 24
  reply[at + 1] = (serial >>> 16) & 0xff
  reply[at + 2] = (serial >>> 8) & 0xff
  reply[at + 3] = serial & 0xff
  for (let i = 0; i < soaEntry.timersBytes; i++) reply[at + 4 + i] = data[timers + i]!
  tx.at = at + 4 + soaEntry.timersBytes
  return true
}

/**
 * Writes the NS rrset of a zone and notes where each name stands. @returns the number, or -1: no
 * room
 */
export function writeNs(tx: Transaction, bundle: Bundle, zone: number): number {
  const data = bundle.nsData
  const entry = bundle.zoneNs[zone]!
  const ttlSeconds = readU32(data, entry + nsEntry.ttl)
  const apex = apexOffset(tx, bundle, zone)
  const count = data[entry + nsEntry.count]!
  let server = entry + nsEntry.servers
  for (let i = 0; i < count; i++) {
    if (!writeRrHeader(tx, apex, RrType.NS, ttlSeconds, nameBytes(data, server))) return -1
    tx.nsdnameOffset[i] = tx.at - tx.replyStart
    writeStoredName(tx, data, server, apex)
    server += storedName.labels + data[server]! + nsEntry.hostBytes
  }
  return count
}

/** Host of name server `i` of a zone, or -1. */
export function nameserverHost(bundle: Bundle, zone: number, i: number): number {
  const data = bundle.nsData
  let server = bundle.zoneNs[zone]! + nsEntry.servers
  for (let k = 0; k < i; k++) server += storedName.labels + data[server]! + nsEntry.hostBytes
  return readU32(data, server + storedName.labels + data[server]!) - 1
}

/** Writes a CNAME record of qname whose target is `length` octets of `names`, not compressed. */
export function writeCname(
  tx: Transaction,
  ttlSeconds: number,
  names: Uint8Array,
  from: number,
  length: number,
): boolean {
  if (!writeRrHeader(tx, qnameOffset, RrType.CNAME, ttlSeconds, length)) return false
  const { reply, at } = tx
  for (let i = 0; i < length; i++) reply[at + i] = names[from + i]!
  tx.at = at + length
  return true
}

/** RFC 8482 section 4.2: CPU "RFC8482", OS "". */
const hinfoRdata = Uint8Array.from([7, 0x52, 0x46, 0x43, 0x38, 0x34, 0x38, 0x32, 0])

export function writeHinfo(tx: Transaction, owner: number, ttlSeconds: number): boolean {
  if (!writeRrHeader(tx, owner, RrType.HINFO, ttlSeconds, hinfoRdata.length)) return false
  for (let i = 0; i < hinfoRdata.length; i++) tx.reply[tx.at + i] = hinfoRdata[i]!
  tx.at += hinfoRdata.length
  return true
}

/** A CHAOS TXT record of one string. The settings keep it below 256 octets. */
export function writeChaosText(tx: Transaction, text: Uint8Array): boolean {
  if (!writeRrHeader(tx, qnameOffset, RrType.TXT, 0, text.length + 1)) return false
  const { reply, at } = tx
  reply[at - rrHeaderBytes + 5] = 3
  reply[at] = text.length
  for (let i = 0; i < text.length; i++) reply[at + 1 + i] = text[i]!
  tx.at = at + 1 + text.length
  return true
}

/** TTL of a zone's SOA rrset, in seconds. */
export function soaTtlSeconds(bundle: Bundle, zone: number): number {
  return readU32(bundle.soaData, bundle.zoneSoa[zone]! + soaEntry.ttl)
}

/** Octets of a stored name in a message: its labels, then a pointer or the root. */
function nameBytes(data: Uint8Array, name: number): number {
  return data[name]! + (data[name + storedName.endsAtApex] === 1 ? 2 : 1)
}

function writeStoredName(tx: Transaction, data: Uint8Array, name: number, apex: number): void {
  const { reply } = tx
  let at = tx.at
  const labels = name + storedName.labels
  const length = data[name]!
  for (let i = 0; i < length; i++) reply[at++] = data[labels + i]!
  if (data[name + storedName.endsAtApex] === 1) {
    reply[at++] = 0xc0 | (apex >> 8)
    reply[at++] = apex & 0xff
  } else {
    reply[at++] = 0
  }
  tx.at = at
}

/** Below 2^31 in everything that is stored here: TTLs and host numbers. */
function readU32(data: Uint8Array, at: number): number {
  return (data[at]! << 24) | (data[at + 1]! << 16) | (data[at + 2]! << 8) | data[at + 3]!
}
