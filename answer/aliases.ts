// Writes CNAME and DNAME records, and moves the transaction on to their target.
import { findRrset, nodeNameBytes, zoneOfNode } from '#bundle/format/bundle.ts'
import type { Bundle } from '#bundle/format/bundle.ts'
import * as format from '#bundle/format/rrsets.ts'
import * as names from '#dns/name.ts'
import * as rcodes from '#dns/rcode.ts'
import * as rrtypes from '#dns/rrtype.ts'
import { hashFrom } from './lookup.ts'
import { writeCname } from './records.ts'
import { apexOffset, signed, suffixOffset, writeRrset } from './rrsets.ts'
import * as seam from '#answer/signing/signer.ts'
import * as transaction from './transaction.ts'
import type { Transaction } from './transaction.ts'
import { noteName, readName } from './written-names.ts'

// Local constants are faster than imports: see answer.ts.
const { rdataLayout, RrsetCell, storedName } = format
const { foldTable, nameLimits } = names
const { Rcode } = rcodes
const { RrType } = rrtypes
const { aliasesMax, qnameEnd } = transaction
const { unknownPart } = seam

/**
 * Writes the CNAME of a node.
 *
 * @returns true when the transaction now answers for the target
 */
export function followCname(tx: Transaction, bundle: Bundle, node: number): boolean {
  const zone = zoneOfNode(bundle, node)
  return follow(tx, bundle, node, zone, node, findRrset(bundle, node, RrType.CNAME))
}

/**
 * Writes the CNAME of a node of the second tree.
 *
 * @param signing zone of the first tree that signs it
 * @returns as `followCname`
 */
export function followWrittenCname(
  tx: Transaction,
  dynamic: Bundle,
  node: number,
  signing: number,
): boolean {
  return follow(tx, dynamic, node, signing, -1, unknownPart)
}

/** @param signing, signer, part as `signed` has them */
function follow(
  tx: Transaction,
  bundle: Bundle,
  node: number,
  signing: number,
  signer: number,
  part: number,
): boolean {
  const zone = zoneOfNode(bundle, node)
  const rrset = findRrset(bundle, node, RrType.CNAME)
  const before = tx.at
  const all = writeRrset(tx, bundle, rrset, tx.owner, apexOffset(tx, bundle, zone))
  const written = signed(tx, signing, before, all, signer, part)
  if (written < 0) {
    tx.isTruncated = true
    return false
  }
  tx.answerCount += written
  if (tx.qtype === RrType.CNAME || tx.qtype === RrType.ANY) return false
  const { rrsetData } = bundle
  const name = dataOf(bundle, rrset)
  const labels = rrsetData[name]!
  const isBelowApex = rrsetData[name + storedName.endsAtApex] === 1
  // The owner stays readable from the reply: it ends in the apex, or the root, which is there.
  const kept = isBelowApex ? nodeNameBytes(bundle, bundle.zoneNode[zone]!) : 1
  if (!leaveName(tx, labels + kept)) return false
  const from = name + storedName.labels
  const start = qnameEnd - labels - kept
  for (let i = 0; i < labels; i++) tx.qname[start + i] = foldTable[rrsetData[from + i]!]!
  return enterName(tx, start)
}

/**
 * Writes the DNAME of a node above the name that is answered for, and the CNAME synthesized from
 * it, which is never signed. RFC 6672 sections 3 and 5.3.1.
 *
 * @param label at which the node's name begins; the suffixes of qname have been hashed
 * @returns true when the transaction now answers for the target
 */
export function followDname(tx: Transaction, bundle: Bundle, node: number, label: number): boolean {
  const rrset = findRrset(bundle, node, RrType.DNAME)
  if (!writeDname(tx, bundle, node, rrset)) {
    tx.isTruncated = true
    return false
  }
  const name = dataOf(bundle, rrset)
  const labels = bundle.rrsetData[name]!
  const prefix = tx.labelOffset[label]! - tx.qnameStart
  const length = prefix + labels + 1
  if (length > nameLimits.bytesMax) {
    tx.rcode = Rcode.YXDomain
    return false
  }
  // The labels in front of the owner of DNAME keep the letter case of the query.
  const { nameOctets } = tx
  readName(tx, tx.owner, prefix)
  const from = name + storedName.labels - prefix
  for (let i = prefix; i < length - 1; i++) nameOctets[i] = bundle.rrsetData[from + i]!
  nameOctets[length - 1] = 0
  const ttlSeconds = bundle.rrsetRow[rrset * RrsetCell.Words + RrsetCell.TtlSeconds]!
  if (!writeCname(tx, ttlSeconds, nameOctets, 0, length)) {
    tx.isTruncated = true
    return false
  }
  tx.answerCount++
  if (tx.qtype === RrType.CNAME || tx.qtype === RrType.ANY) return false
  return enterOctets(tx, length)
}

/**
 * Writes the DNAME of a node unless the reply has it already.
 *
 * @returns false when it does not fit
 */
function writeDname(tx: Transaction, bundle: Bundle, node: number, rrset: number): boolean {
  for (let i = 0; i < tx.dnameCount; i++) if (tx.dnameNode[i] === node) return true
  const owner = suffixOffset(tx, nodeNameBytes(bundle, node))
  const before = tx.at
  const all = writeRrset(tx, bundle, rrset, owner, 0)
  const written = signed(tx, zoneOfNode(bundle, node), before, all, node, rrset)
  if (written < 0) return false
  tx.answerCount += written
  tx.dnameNode[tx.dnameCount++] = node
  // RFC 6672 section 2.5: this name is not compressed; the synthesized CNAME may point into it.
  noteName(tx, tx.nameOffset)
  return true
}

/**
 * Moves on to the target of the alias written last.
 *
 * @returns true when the transaction now answers for the target
 */
export function followWritten(tx: Transaction): boolean {
  if (tx.qtype === RrType.CNAME) return false
  return enterOctets(tx, readName(tx, tx.nameOffset, nameLimits.bytesMax))
}

/** Moves on to the name in `nameOctets`, written last. @returns as `enterName` */
function enterOctets(tx: Transaction, length: number): boolean {
  if (!leaveName(tx, length)) return false
  const start = qnameEnd - length
  for (let i = 0; i < length; i++) tx.qname[start + i] = foldTable[tx.nameOctets[i]!]!
  return enterName(tx, start)
}

/** Offset of the stored name in the single record of an rrset. */
function dataOf({ rrsetRow }: Bundle, rrset: number): number {
  return rrsetRow[rrset * RrsetCell.Words + RrsetCell.Data]! + rdataLayout.lengthBytes
}

/**
 * Leaves the current name for a target.
 *
 * @param length octets of the target
 * @returns false when no more targets are followed
 */
function leaveName(tx: Transaction, length: number): boolean {
  if (tx.aliasCount === 0) {
    tx.firstAliasEnd = tx.at
    tx.firstAliasAnswers = tx.answerCount
  }
  // A name in a zone is never longer; the loader's checks of rdata do not cover the apex.
  if (tx.aliasCount === aliasesMax || length > nameLimits.bytesMax) return false
  tx.leftHash[tx.aliasCount++] = tx.qnameHash
  return true
}

/**
 * Makes the name in `qname` from `start` on, written last, the one that is answered for.
 *
 * @returns false when it was answered for before: loops of aliases end here
 */
function enterName(tx: Transaction, start: number): boolean {
  const { qname } = tx
  for (let i = start & ~3; i < start; i++) qname[i] = 0
  let labels = 0
  for (let at = start; qname[at] !== 0; at += qname[at]! + 1) labels++
  tx.qnameStart = start
  tx.qnameBytes = qnameEnd - start
  tx.labelCount = labels
  tx.qnameHash = hashFrom(tx, start)
  tx.owner = tx.nameOffset
  tx.isAnyName = false
  for (let i = 0; i < tx.aliasCount; i++) if (tx.leftHash[i] === tx.qnameHash) return false
  return true
}

/**
 * Takes back all but the first alias and its target's name. RFC 7871 section 7.2.1: where a later
 * record depends on the client's subnet, a resolver could not cache the earlier ones for everybody.
 */
export function keepFirstAlias(tx: Transaction): void {
  tx.at = tx.firstAliasEnd
  tx.answerCount = tx.firstAliasAnswers
  tx.authorityCount = 0
  tx.additionalCount = 0
  tx.ecsScope = 0
  // Records that did not fit are no longer part of the answer; the first alias did fit, or it would
  // not have been followed.
  tx.isTruncated = false
}
