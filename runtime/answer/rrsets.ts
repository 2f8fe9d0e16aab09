// Writes rrsets of the bundle into the reply, and the addresses of names that they point to.
import { findRrset, nodeNameBytes } from '#bundle/format/bundle.ts'
import type { Bundle } from '#bundle/format/bundle.ts'
import * as format from '#bundle/format/rrsets.ts'
import * as rrtypes from '#dns/rrtype.ts'
import { mark } from './mark.ts'
import { qnameOffset, writeRrHeader } from './records.ts'
import * as transaction from './transaction.ts'
import type { Transaction } from './transaction.ts'

// Constants of this file, for the reason that answer.ts gives.
const { FormBit, formBits, glueBit, rdataLayout, RrsetCell, storedName } = format
const { RrType } = rrtypes
const { targetsMax } = transaction

/** What a compression pointer can point to. RFC 1035 section 4.1.4. */
const pointerMax = 0x3fff

/**
 * Writes the records of an rrset, and notes those of their targets that have addresses.
 *
 * @param rrset row in `rrsetRow`
 * @param owner offset of the owner name from the start of the message
 * @param apex the same of the apex of its zone; names in rdata are compressed by it
 * @returns the number of records, or -1 when not all of them fit
 */
export function writeRrset(
  tx: Transaction,
  bundle: Bundle,
  rrset: number,
  owner: number,
  apex: number,
): number {
  const { rrsetRow, rrsetData } = bundle
  const row = rrset * RrsetCell.Words
  const type = rrsetRow[row + RrsetCell.Type]!
  const ttlSeconds = rrsetRow[row + RrsetCell.TtlSeconds]!
  const count = rrsetRow[row + RrsetCell.Count]!
  const form = formBits[type]!
  if ((form & FormBit.Target) !== 0) tx.targetCount = 0
  let at = rrsetRow[row + RrsetCell.Data]!
  for (let i = 0; i < count; i++) {
    const rdata = at + rdataLayout.lengthBytes
    at = rdata + ((rrsetData[at]! << 8) | rrsetData[at + 1]!)
    const isWritten =
      form === 0
        ? writeWhole(tx, owner, type, ttlSeconds, rrsetData, rdata, at)
        : writeNamed(tx, owner, type, ttlSeconds, rrsetData, rdata, at, apex)
    if (!isWritten) return -1
  }
  return count
}

/** Writes a record whose rdata stands in the bundle as in a message. */
function writeWhole(
  tx: Transaction,
  owner: number,
  type: number,
  ttlSeconds: number,
  data: Uint8Array,
  start: number,
  end: number,
): boolean {
  if (!writeRrHeader(tx, owner, type, ttlSeconds, end - start)) return false
  copy(tx, data, start, end)
  return true
}

/** Writes a record whose rdata has stored names. */
function writeNamed(
  tx: Transaction,
  owner: number,
  type: number,
  ttlSeconds: number,
  data: Uint8Array,
  start: number,
  end: number,
  apex: number,
): boolean {
  const form = formBits[type]!
  const hasTarget = (form & FormBit.Target) !== 0
  const fixed = hasTarget ? start + rdataLayout.targetBytes : start
  const name = fixed + (form & FormBit.BeforeMask)
  const nameEnd = endOfStored(data, name)
  const isSoa = (form & FormBit.Soa) !== 0
  const rest = isSoa ? endOfStored(data, nameEnd) : nameEnd
  let bytes = name - fixed + nameBytes(data, name) + end - rest
  if (isSoa) bytes += nameBytes(data, nameEnd)
  if (!writeRrHeader(tx, owner, type, ttlSeconds, bytes)) return false
  copy(tx, data, fixed, name)
  if (hasTarget) noteTarget(tx, readU32(data, start))
  writeStoredName(tx, data, name, apex)
  if (isSoa) writeStoredName(tx, data, nameEnd, apex)
  copy(tx, data, rest, end)
  // The serial, which is the node's, is the first of five numbers.
  if (isSoa) tx.replyView.setInt32(tx.at - (end - rest), tx.view!.state.soaSerial[0]!)
  return true
}

function copy(tx: Transaction, data: Uint8Array, start: number, end: number): void {
  const { reply } = tx
  let { at } = tx
  for (let i = start; i < end; i++) reply[at++] = data[i]!
  tx.at = at
}

/** The name of the target is about to be written. */
function noteTarget(tx: Transaction, number: number): void {
  const offset = tx.at - tx.replyStart
  if (number === 0 || tx.targetCount === targetsMax || offset > pointerMax) return
  tx.targetNumber[tx.targetCount] = number
  tx.targetOffset[tx.targetCount++] = offset
}

function endOfStored(data: Uint8Array, name: number): number {
  return name + storedName.labels + data[name]!
}

/** Octets of a stored name in a message: its labels, then a pointer or the root. */
function nameBytes(data: Uint8Array, name: number): number {
  return data[name]! + (data[name + storedName.endsAtApex] === 1 ? 2 : 1)
}

function writeStoredName(tx: Transaction, data: Uint8Array, name: number, apex: number): void {
  const { reply } = tx
  let { at } = tx
  const end = endOfStored(data, name)
  for (let i = name + storedName.labels; i < end; i++) reply[at++] = data[i]!
  if (data[name + storedName.endsAtApex] === 1) {
    reply[at++] = 0xc0 | (apex >> 8)
    reply[at++] = apex & 0xff
  } else {
    reply[at++] = 0
  }
  tx.at = at
}

function readU32(data: Uint8Array, at: number): number {
  const value = (data[at]! << 24) | (data[at + 1]! << 16) | (data[at + 2]! << 8) | data[at + 3]!
  return value >>> 0
}

/**
 * Where a name that encloses the one that is answered for stands in the message.
 *
 * @param bytes octets of the enclosing name, at most those of the enclosed one
 */
export function suffixOffset(tx: Transaction, bytes: number): number {
  if (tx.owner === qnameOffset) return qnameOffset + tx.qnameBytes - bytes
  // The target of an alias: labels, then maybe a pointer to the apex of the zone of the alias.
  const { reply, replyStart } = tx
  let { owner: at, qnameBytes: left } = tx
  for (;;) {
    const length = reply[replyStart + at]!
    if (length >= 0xc0) {
      at = ((length & 0x3f) << 8) | reply[replyStart + at + 1]!
    } else if (left <= bytes) {
      return at
    } else {
      at += length + 1
      left -= length + 1
    }
  }
}

/** Where the apex of a zone stands; the zone encloses the name that is answered for. */
export function apexOffset(tx: Transaction, bundle: Bundle, zone: number): number {
  return suffixOffset(tx, nodeNameBytes(bundle, bundle.zoneNode[zone]!))
}

/** TTL of a zone's SOA rrset, in seconds. */
export function soaTtlSeconds(bundle: Bundle, zone: number): number {
  return bundle.rrsetRow[soaOf(bundle, zone) * RrsetCell.Words + RrsetCell.TtlSeconds]!
}

/** The loader has proved that each apex has it. */
function soaOf(bundle: Bundle, zone: number): number {
  return findRrset(bundle, bundle.zoneNode[zone]!, RrType.SOA)
}

/**
 * Writes the SOA of NXDOMAIN and NODATA: resolvers keep a denial for the smaller of its TTL and
 * MINIMUM, RFC 2308 section 3. @returns false when it does not fit
 */
export function writeDenialSoa(tx: Transaction, bundle: Bundle, zone: number): boolean {
  const { rrsetData, rrsetRow } = bundle
  const row = soaOf(bundle, zone) * RrsetCell.Words
  const at = rrsetRow[row + RrsetCell.Data]!
  const rdata = at + rdataLayout.lengthBytes
  const end = rdata + ((rrsetData[at]! << 8) | rrsetData[at + 1]!)
  const minimumSeconds = readU32(rrsetData, end - 4)
  const ttlSeconds = Math.min(rrsetRow[row + RrsetCell.TtlSeconds]!, minimumSeconds)
  const apex = apexOffset(tx, bundle, zone)
  return writeNamed(tx, apex, RrType.SOA, ttlSeconds, rrsetData, rdata, end, apex)
}

/**
 * Adds the addresses of the targets of the rrset written last to the additional section: those that
 * the client cannot do without, or the others as far as they fit. RFC 9471, RFC 2181 section 9.
 *
 * @returns false when one that it cannot do without does not fit
 */
export function writeTargets(tx: Transaction, bundle: Bundle, areNeeded: boolean): boolean {
  for (let i = 0; i < tx.targetCount; i++) {
    const number = tx.targetNumber[i]!
    const isGlue = number >= glueBit
    if (isGlue !== areNeeded || isNoted(tx, number, i)) continue
    const node = bundle.targetNode[(isGlue ? number - glueBit : number) - 1]!
    const owner = tx.targetOffset[i]!
    mark(tx.view!.usedNames, node)
    const isWhole =
      writeAddresses(tx, bundle, node, RrType.A, owner) &&
      writeAddresses(tx, bundle, node, RrType.AAAA, owner)
    if (!isWhole && areNeeded) return false
  }
  return true
}

/** Two records may have one target. */
function isNoted(tx: Transaction, number: number, before: number): boolean {
  for (let i = 0; i < before; i++) if (tx.targetNumber[i] === number) return true
  return false
}

/** @returns false, with nothing written, when they do not fit */
function writeAddresses(
  tx: Transaction,
  bundle: Bundle,
  node: number,
  type: number,
  owner: number,
): boolean {
  const rrset = findRrset(bundle, node, type)
  if (rrset < 0) return true
  const before = tx.at
  const written = writeRrset(tx, bundle, rrset, owner, 0)
  if (written < 0) tx.at = before
  else tx.additionalCount += written
  return written >= 0
}
