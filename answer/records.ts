// Writes single resource records into the reply: the owner is a pointer. RFC 1035 section 4.1.3.
import { address6Row } from '#bundle/format/bundle.ts'
import type { Bundle } from '#bundle/format/bundle.ts'
import { numberAt } from '#bundle/format/hostnames.ts'
import * as cells from '#bundle/format/cells.ts'
import * as header from '#dns/header.ts'
import * as rrtypes from '#dns/rrtype.ts'
import * as routingQuery from '#routing/state/query.ts'
import type { Family } from '#routing/state/query.ts'
import { slotOffset } from '#routing/state/state.ts'
import { mark } from '#answer/counters/mark.ts'
import * as seam from '#answer/signing/signer.ts'
import type { Transaction } from './transaction.ts'
import { root, writeName } from './written-names.ts'

// Local constants are faster than imports: see answer.ts.
const { HeaderOffset, QClass } = header
const { RrType } = rrtypes
const { memberPart, unknownPart } = seam
const { V4: v4 } = routingQuery.Family
const { MemberFlag } = cells
/** Flags of a member with a fixed address are at most this. */
const plainFlagsMax = MemberFlag.Enabled

/** Pointer, type, class, TTL, RDLENGTH: an owner is always a name already in the message. */
const rrHeaderBytes = 12

/** Offset of qname in every message. */
export const qnameOffset = HeaderOffset.End

/**
 * Writes a record up to its rdata, if the whole record fits.
 *
 * @param owner offset of the owner name from the start of the message
 * @returns false, with nothing written, when it does not fit
 */
export function writeRrHeader(
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

/** Sets the length of the rdata that began at `start` and ends here. */
export function endRdata({ replyView, at }: Transaction, start: number): void {
  replyView.setUint16(start - 2, at - start)
}

/** Writes an A or AAAA record of the octets at `from`. @returns false when it does not fit */
function writeAddress(
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

/**
 * Writes a member for the name that is answered for: its address, or the alias.
 *
 * @returns false when it does not fit
 */
export function writeMember(
  tx: Transaction,
  bundle: Bundle,
  member: number,
  family: Family,
  ttlSeconds: number,
): boolean {
  mark(tx.view!.usedMembers, member)
  // Costs one test where no member has a host name.
  if (bundle.hasHostnames && bundle.memberFlags[member]! > plainFlagsMax) {
    return writeNamed(tx, bundle, member, family, ttlSeconds)
  }
  const isIpv4 = family === v4
  const octets = isIpv4 ? bundle.memberAddress : bundle.memberAddress6
  const from = isIpv4 ? member * 4 : address6Row(bundle, member) * 16
  return writeAddress(tx, tx.owner, family, ttlSeconds, octets, from)
}

/**
 * The part number under which a signer remembers the rrset of one member; unknown where its address
 * may change.
 */
export function partOfMember(bundle: Bundle, member: number): number {
  const isPlain = !bundle.hasHostnames || bundle.memberFlags[member]! <= plainFlagsMax
  return isPlain ? memberPart(member) : unknownPart
}

/** Writes a member with a host name: an alias, or the address that its slot has now. */
function writeNamed(
  tx: Transaction,
  bundle: Bundle,
  member: number,
  family: Family,
  ttlSeconds: number,
): boolean {
  if ((bundle.memberFlags[member]! & MemberFlag.Alias) !== 0) {
    const name = numberAt(bundle.memberAddress, member * 4)
    const { hostnameNames } = bundle
    return writeCname(tx, ttlSeconds, hostnameNames, name + 1, hostnameNames[name]!)
  }
  const slot =
    family === v4
      ? numberAt(bundle.memberAddress, member * 4)
      : numberAt(bundle.memberAddress6, address6Row(bundle, member) * 16)
  const { slotVersion, slotOctets } = tx.view!.state
  const start = tx.at
  for (;;) {
    const version = slotVersion[slot]!
    const from = slotOffset(slot, version)
    if (!writeAddress(tx, tx.owner, family, ttlSeconds, slotOctets, from)) return false
    // The copy in use is not overwritten before the version moves, so an unchanged version proves
    // the read.
    if (Atomics.load(slotVersion, slot) === version) return true
    tx.at = start
  }
}

/**
 * Writes a CNAME record whose target is `length` octets of `names`.
 *
 * @returns false when it does not fit; else `nameOffset` is the place of the target
 */
export function writeCname(
  tx: Transaction,
  ttlSeconds: number,
  names: Uint8Array,
  from: number,
  length: number,
): boolean {
  if (!writeRrHeader(tx, tx.owner, RrType.CNAME, ttlSeconds, 0)) return false
  const rdata = tx.at
  if (!writeName(tx, names, from, from + length - 1, root)) return false
  endRdata(tx, rdata)
  return true
}

/** Writes a record with rdata in wire form. @returns false when it does not fit */
export function writeRdata(
  tx: Transaction,
  owner: number,
  type: number,
  ttlSeconds: number,
  rdata: Uint8Array,
): boolean {
  if (!writeRrHeader(tx, owner, type, ttlSeconds, rdata.length)) return false
  const { reply, at } = tx
  for (let i = 0; i < rdata.length; i++) reply[at + i] = rdata[i]!
  tx.at = at + rdata.length
  return true
}

/** RFC 8482 section 4.2: CPU "RFC8482", OS "". */
const hinfoRdata = Uint8Array.from([7, 0x52, 0x46, 0x43, 0x38, 0x34, 0x38, 0x32, 0])

export function writeHinfo(tx: Transaction, owner: number, ttlSeconds: number): boolean {
  return writeRdata(tx, owner, RrType.HINFO, ttlSeconds, hinfoRdata)
}

/** Writes a CHAOS TXT record of one string. The settings keep it below 256 octets. */
export function writeChaosText(tx: Transaction, text: Uint8Array): boolean {
  if (!writeRrHeader(tx, qnameOffset, RrType.TXT, 0, text.length + 1)) return false
  const { reply, at } = tx
  reply[at - rrHeaderBytes + 5] = 3
  reply[at] = text.length
  for (let i = 0; i < text.length; i++) reply[at + 1 + i] = text[i]!
  tx.at = at + 1 + text.length
  return true
}
