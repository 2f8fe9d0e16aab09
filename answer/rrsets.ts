// Writes rrsets of the bundle into the reply, and the addresses of the names in their rdata.
import { findRrset, nodeFlags, nodeNameBytes, zoneOfNode } from '#bundle/format/bundle.ts'
import type { Bundle } from '#bundle/format/bundle.ts'
import * as cells from '#bundle/format/cells.ts'
import * as format from '#bundle/format/rrsets.ts'
import { writeNsec } from '#dns/dnssec/denial.ts'
import * as rrtypes from '#dns/rrtype.ts'
import { mark } from '#answer/counters/mark.ts'
import { endRdata, qnameOffset, writeRrHeader } from './records.ts'
import * as seam from '#answer/signing/signer.ts'
import * as transaction from './transaction.ts'
import type { Transaction } from './transaction.ts'
import * as writtenNames from './written-names.ts'
import { firstPlace, writeName } from './written-names.ts'

// Local constants are faster than imports: see answer.ts.
const { NodeFlag } = cells
const { FormBit, formBits, glueBit, rdataLayout, RrsetCell, storedName } = format
const { CsyncFlag, csyncFlagsAt } = format
const { RrType } = rrtypes
const { targetsMax } = transaction
const { pointerMax, root } = writtenNames
const { cannotSign } = seam

/**
 * Writes the records of an rrset and notes targets that have addresses.
 *
 * @param rrset row in `rrsetRow`
 * @param owner offset of the owner name from the start of the message
 * @param apex offset of the zone's apex; names in rdata are compressed against it
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

/** The bits of a compression pointer (RFC 1035 section 4.1.4), which every owner is. */
const pointer = 0xc000

/**
 * Signs a complete rrset for a client that sent DO. RFC 4035 section 3.1.1.
 *
 * @param start of its first record in the reply's memory; the last one ends at `tx.at`
 * @param written how many records it has; -1: they do not fit
 * @param node whose name the owner is, unless a wildcard matched
 * @param part see `Signer.sign`
 * @returns `written` with the signatures
 */
export function signed(
  tx: Transaction,
  zone: number,
  start: number,
  written: number,
  node: number,
  part: number,
): number {
  return tx.isDo && written > 0 ? withSignatures(tx, zone, start, written, node, part) : written
}

/** A function of its own, so that answers without DO are compiled without it. */
function withSignatures(
  tx: Transaction,
  zone: number,
  start: number,
  written: number,
  node: number,
  part: number,
): number {
  const { replyView, signer } = tx
  const owner = replyView.getUint16(start) ^ pointer
  const type = replyView.getUint16(start + 2)
  return counted(tx, written, signer.sign(tx, zone, owner, type, start, node, part))
}

function counted(tx: Transaction, written: number, signatures: number): number {
  if (signatures === cannotSign) tx.isUnsignable = true
  return signatures < 0 ? -1 : written + signatures
}

/**
 * Counts an rrset of the answer and its signatures. Other parameters are as for `signed`.
 *
 * @param start of its first record: the argument is read before the next one is written
 * @param written -1: not all records fit
 */
export function countAnswer(
  tx: Transaction,
  zone: number,
  start: number,
  written: number,
  node: number,
  part: number,
): void {
  const isSigned = tx.isDo && written > 0
  const all = isSigned ? withSignatures(tx, zone, start, written, node, part) : written
  if (all < 0) tx.isTruncated = true
  else tx.answerCount += all
}

/** Writes a record whose rdata the bundle has in wire form. */
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
  if (!writeRrHeader(tx, owner, type, ttlSeconds, name - fixed)) return false
  const rdata = tx.at
  copy(tx, data, fixed, name)
  if (!writeStoredName(tx, data, name, form, apex)) return false
  if (hasTarget) noteTarget(tx, readU32(data, start))
  const isSoa = (form & FormBit.Soa) !== 0
  let rest = endOfStored(data, name)
  if (isSoa) {
    if (!writeStoredName(tx, data, rest, form, apex)) return false
    rest = endOfStored(data, rest)
    if (tx.at + end - rest > tx.recordsEnd) return false
    copy(tx, data, rest, end)
    addSerial(tx, tx.at - (end - rest))
  }
  endRdata(tx, rdata)
  return true
}

/** Adds the node's part to the SOA serial, the first of five numbers: the zone stores its base. */
function addSerial({ replyView, view }: Transaction, at: number): void {
  replyView.setInt32(at, (replyView.getInt32(at) + view!.state.soaSerial[0]!) | 0)
}

/**
 * The CSYNC record that a zone has by its settings: its serial is that of the zone.
 *
 * @param start of the record, in the reply's memory
 * @returns false, with nothing changed: somebody has written it
 */
export function addCsyncSerial(tx: Transaction, start: number): boolean {
  const { replyView } = tx
  const at = start + headerBytes
  const flags = replyView.getUint16(at + csyncFlagsAt)
  if ((flags & CsyncFlag.SerialIsBase) === 0) return false
  replyView.setUint16(at + csyncFlagsAt, flags ^ CsyncFlag.SerialIsBase)
  addSerial(tx, at)
  return true
}

/** Pointer, type, class, TTL, RDLENGTH. */
const headerBytes = 12

/** The stored SOA serial of a zone, to which the state's is added. @param apex its node */
export function serialBaseOf(bundle: Bundle, apex: number): number {
  const { rrsetData, rrsetRow } = bundle
  const row = findRrset(bundle, apex, RrType.SOA) * RrsetCell.Words
  const at = rrsetRow[row + RrsetCell.Data]!
  const end = at + rdataLayout.lengthBytes + (rrsetData[at]! << 8) + rrsetData[at + 1]!
  return readU32(rrsetData, end - serialFromEnd)
}

/** Octets from the end of SOA rdata back to its serial. */
const serialFromEnd = 20

function copy(tx: Transaction, data: Uint8Array, start: number, end: number): void {
  const { reply } = tx
  let { at } = tx
  for (let i = start; i < end; i++) reply[at++] = data[i]!
  tx.at = at
}

/** Notes the target, which is the name written last. */
function noteTarget(tx: Transaction, number: number): void {
  if (number === 0 || tx.targetCount === targetsMax || tx.nameOffset > pointerMax) return
  tx.targetNumber[tx.targetCount] = number
  tx.targetOffset[tx.targetCount++] = tx.nameOffset
}

function endOfStored(data: Uint8Array, name: number): number {
  return name + storedName.labels + data[name]!
}

/** @returns false when it does not fit */
function writeStoredName(
  tx: Transaction,
  data: Uint8Array,
  name: number,
  form: number,
  apex: number,
): boolean {
  const from = name + storedName.labels
  const end = endOfStored(data, name)
  if ((form & FormBit.Compressed) !== 0) {
    return writeName(tx, data, from, end, data[name + storedName.endsAtApex] === 1 ? apex : root)
  }
  if (tx.at + end - from + 1 > tx.recordsEnd) return false
  tx.nameOffset = tx.at - tx.replyStart
  copy(tx, data, from, end)
  tx.reply[tx.at++] = 0
  return true
}

function readU32(data: Uint8Array, at: number): number {
  const value = (data[at]! << 24) | (data[at + 1]! << 16) | (data[at + 2]! << 8) | data[at + 3]!
  return value >>> 0
}

/**
 * Offset in the message of a suffix of the name that is answered for.
 *
 * @param bytes octets of the suffix, at most those of the name
 */
export function suffixOffset(tx: Transaction, bytes: number): number {
  if (tx.owner === qnameOffset) return qnameOffset + tx.qnameBytes - bytes
  // The target of an alias is labels, then possibly a pointer to an earlier name.
  const { reply, replyStart } = tx
  let { owner: at, qnameBytes: left } = tx
  for (;;) {
    const length = reply[replyStart + at]!
    if (length >= 0xc0) {
      at = ((length & 0x3f) << 8) | reply[replyStart + at + 1]!
    } else if (left <= bytes) {
      // The name in a DNAME record is uncompressed, so the suffix may also stand before it.
      return tx.dnameCount === 0 ? at : firstPlace(tx, at)
    } else {
      at += length + 1
      left -= length + 1
    }
  }
}

/** Offset of the apex of a zone that contains the current name. */
export function apexOffset(tx: Transaction, bundle: Bundle, zone: number): number {
  return suffixOffset(tx, nodeNameBytes(bundle, bundle.zoneNode[zone]!))
}

/** TTL of a zone's SOA rrset, in seconds. */
export function soaTtlSeconds(bundle: Bundle, zone: number): number {
  return bundle.rrsetRow[soaOf(bundle, zone) * RrsetCell.Words + RrsetCell.TtlSeconds]!
}

/** The loader has proved that each apex has a SOA. */
function soaOf(bundle: Bundle, zone: number): number {
  return findRrset(bundle, bundle.zoneNode[zone]!, RrType.SOA)
}

/**
 * Negative caching TTL in seconds: the smaller of the TTL of the SOA and its MINIMUM. RFC 2308
 * section 3, RFC 9077 section 3.
 */
function denialSeconds({ rrsetData, rrsetRow }: Bundle, soa: number): number {
  const row = soa * RrsetCell.Words
  const at = rrsetRow[row + RrsetCell.Data]!
  const end = at + rdataLayout.lengthBytes + ((rrsetData[at]! << 8) | rrsetData[at + 1]!)
  return Math.min(rrsetRow[row + RrsetCell.TtlSeconds]!, readU32(rrsetData, end - 4))
}

/**
 * Adds the SOA of NXDOMAIN and NODATA to the authority section.
 *
 * @param isOfZone false: a response rule made the denial, which is not signed
 */
export function writeDenialSoa(
  tx: Transaction,
  bundle: Bundle,
  zone: number,
  isOfZone: boolean,
): void {
  const { rrsetData, rrsetRow } = bundle
  const soa = soaOf(bundle, zone)
  const at = rrsetRow[soa * RrsetCell.Words + RrsetCell.Data]!
  const rdata = at + rdataLayout.lengthBytes
  const end = rdata + ((rrsetData[at]! << 8) | rrsetData[at + 1]!)
  const ttlSeconds = denialSeconds(bundle, soa)
  const apex = apexOffset(tx, bundle, zone)
  const start = tx.at
  const isWritten = writeNamed(tx, apex, RrType.SOA, ttlSeconds, rrsetData, rdata, end, apex)
  const all = isWritten ? 1 : -1
  const isSigned = isOfZone && tx.isDo
  const written = isSigned ? signed(tx, zone, start, all, bundle.zoneNode[zone]!, soa) : all
  if (written < 0) tx.isTruncated = true
  else tx.authorityCount += written
}

/**
 * Writes the NSEC record with the types in `tx.nameTypes`, signed for a client that sent DO. RFC
 * 9824 section 3.
 *
 * @param owner offset of the name from the start of the message
 * @param name offset of the name in `tx.qname`
 * @returns the number of records; -1: they do not fit
 */
export function writeNsecRecord(
  tx: Transaction,
  bundle: Bundle,
  zone: number,
  owner: number,
  name: number,
): number {
  const { types, count, rdata } = tx.nameTypes
  const bytes = writeNsec(rdata, 0, tx.qname, name, types, count)
  const ttlSeconds = denialSeconds(bundle, soaOf(bundle, zone))
  const start = tx.at
  if (!writeRrHeader(tx, owner, RrType.NSEC, ttlSeconds, bytes)) return -1
  copy(tx, rdata, 0, bytes)
  return tx.isDo ? counted(tx, 1, tx.signer.signDenial(tx, zone, owner, start, name)) : 1
}

/**
 * Adds the addresses of the targets of the rrset written last to the additional section: the
 * indispensable ones, or the others as far as they fit. RFC 9471, RFC 2181 section 9.
 *
 * @returns false when an indispensable address does not fit
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
      writeAddresses(tx, bundle, node, RrType.A, owner, isGlue) &&
      writeAddresses(tx, bundle, node, RrType.AAAA, owner, isGlue)
    if (!isWhole && areNeeded) return false
  }
  return true
}

/** Two records may share a target. */
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
  isGlue: boolean,
): boolean {
  const rrset = findRrset(bundle, node, type)
  if (rrset < 0) return true
  const before = tx.at
  const { isUnsignable } = tx
  const all = writeRrset(tx, bundle, rrset, owner, 0)
  // RFC 4035 section 2.2: addresses below a cut are not signed, whatever refers to them.
  const flags = nodeFlags(bundle, node)
  const isOfChild = (flags & (NodeFlag.Cut | NodeFlag.Below)) !== 0 && (flags & NodeFlag.Apex) === 0
  const zone = zoneOfNode(bundle, node)
  const written = isGlue || isOfChild ? all : signed(tx, zone, before, all, node, rrset)
  if (written >= 0) {
    tx.additionalCount += written
    return true
  }
  tx.at = before
  // The name may be of another zone; its addresses are optional, so a missing key is no fault.
  tx.isUnsignable = isUnsignable
  return false
}
