// Answers of a signed zone beyond its records: its keys, and compact denials by one NSEC record at
// the queried name. RFC 9824.
import { nodeFlags, serviceOfNode, zoneOfNode } from '#bundle/format/bundle.ts'
import type { Bundle } from '#bundle/format/bundle.ts'
import * as cells from '#bundle/format/cells.ts'
import { ExtendedError } from '#dns/edns-codes.ts'
import * as rcodes from '#dns/rcode.ts'
import * as rrtypes from '#dns/rrtype.ts'
import { EdeText, explain } from './edns.ts'
import { findWrittenNode } from './lookup.ts'
import { writeHinfo, writeRdata } from './records.ts'
import { countAnswer, soaTtlSeconds, writeDenialSoa, writeNsecRecord } from './rrsets.ts'
import * as seam from '#answer/signing/signer.ts'
import type { Transaction } from './transaction.ts'

// Local constants are faster than imports: see answer.ts.
const { NodeFlag } = cells
const { Rcode } = rcodes
const { RrType } = rrtypes
const { cannotSign, noSignal, unknownPart } = seam

/**
 * NXDOMAIN or NODATA: writes the SOA into the authority section. RFC 2308 section 2.
 *
 * @param node of the name, or of the wildcard that matches it; -1: the first tree has none
 */
export function negative(tx: Transaction, bundle: Bundle, zone: number, node: number): void {
  tx.isAuthoritative = true
  const { qtype } = tx
  if (tx.view!.absent !== null && isAbsent(tx, bundle, zone, node)) return
  if (tx.isDo || isOfProof(qtype)) {
    if (tx.signer.signs(zone)) return deny(tx, bundle, zone, node)
  }
  writeDenialSoa(tx, bundle, zone, true)
}

/** RFC 8482 section 4.2: one small answer for every existing name, on UDP and TCP. */
export function answerAny(tx: Transaction, bundle: Bundle, zone: number): void {
  const start = tx.at
  const isWritten = writeHinfo(tx, tx.owner, soaTtlSeconds(bundle, zone))
  countAnswer(tx, zone, start, isWritten ? 1 : -1, -1, unknownPart)
}

/**
 * NXDOMAIN or NODATA of a signed zone. To a validating client a missing name looks like an existing
 * one: section 3.1. Queries for NSEC or RRSIG are answered here, too.
 *
 * @param node of the name, or of the wildcard that matches it; -1: the first tree has none, and
 * `tx.rcode` says whether the second has
 */
export function deny(tx: Transaction, bundle: Bundle, zone: number, node: number): void {
  const { qtype } = tx
  const isUnknown = tx.rcode === Rcode.NXDomain
  tx.isUnknownName = isUnknown
  const isOfSigner = isOfProof(qtype)
  if (isUnknown && !tx.isDo) return writeDenialSoa(tx, bundle, zone, true)
  listTypes(tx, bundle, zone, node, isOfSigner ? 0 : qtype)
  // Section 5.1: only clients that know compact denial get the original rcode.
  if (isUnknown && (!tx.isCompactOk || isOfSigner)) tx.rcode = Rcode.NoError
  if (isOfSigner) {
    tx.isAnyName ||= isUnknown
    return answerProof(tx, bundle, zone)
  }
  const isAnyName = tx.isAnyName || isUnknown
  // The SOA belongs to the zone, not to the queried name.
  tx.isAnyName = false
  writeDenialSoa(tx, bundle, zone, true)
  tx.isAnyName = isAnyName
  const written = writeNsecRecord(tx, bundle, zone, tx.owner, tx.qnameStart)
  if (written < 0) tx.isTruncated = true
  else tx.authorityCount += written
}

/** @param without the type that is denied; 0: none */
function listTypes(
  tx: Transaction,
  bundle: Bundle,
  zone: number,
  node: number,
  without: number,
): void {
  const { nameTypes, rcode } = tx
  const { dynamic } = tx.view!
  nameTypes.begin(without)
  if (node >= 0) {
    const isParent = zoneOfNode(bundle, node) !== zone
    nameTypes.addNode(bundle, node, isParent)
    if (isParent) return
    // A service that gives an alias has a CNAME, unless CNAME is denied.
    if (without === 0 && (nodeFlags(bundle, node) & NodeFlag.Alias) !== 0)
      nameTypes.add(RrType.CNAME)
    if ((nodeFlags(bundle, node) & NodeFlag.Signed) !== 0) addForParent(tx, zone)
    if (dynamic === undefined) return
    const isPlain = (nodeFlags(bundle, node) & alone) === 0
    const same = isPlain ? findWrittenNode(dynamic, bundle, node) : -1
    if (same >= 0) nameTypes.addNode(dynamic, same, false)
  } else if (rcode === Rcode.NXDomain) {
    nameTypes.add(RrType.NXNAME)
  } else if (tx.signal !== noSignal) {
    if (tx.signal >= 0) addForParent(tx, tx.signal)
  } else if (dynamic !== undefined) {
    nameTypes.addNode(dynamic, tx.dynamicNode, false)
  }
}

/** What is written at run time at a name with one of these is hidden. */
const alone = NodeFlag.Alias | NodeFlag.Cut | NodeFlag.HasCname

/** Writes the NSEC record of a name with all of its types, which denies all others. */
export function proveTypes(tx: Transaction, bundle: Bundle, zone: number, node: number): void {
  listTypes(tx, bundle, zone, node, 0)
  writeNsecRecord(tx, bundle, zone, tx.owner, tx.qnameStart)
}

/** Adds the CDS and CDNSKEY types that the keys of a zone give its apex. */
function addForParent({ signer, nameTypes }: Transaction, zone: number): void {
  const keys = signer.keyRdata(zone, RrType.CDS)
  if (keys === undefined || keys.length === 0) return
  nameTypes.add(RrType.CDS)
  nameTypes.add(RrType.CDNSKEY)
}

/**
 * Answers NSEC or RRSIG at a name that a signed rule makes an alias: both types stand beside it
 * (RFC 4035 section 2.5).
 */
export function proveAlias(tx: Transaction, bundle: Bundle, zone: number): void {
  tx.nameTypes.begin(0)
  tx.nameTypes.add(RrType.CNAME)
  answerProof(tx, bundle, zone)
}

/** Answers with the NSEC record of a name, or with its signature alone: RFC 8482 section 4.1. */
function answerProof(tx: Transaction, bundle: Bundle, zone: number): void {
  const start = tx.at
  const { isDo } = tx
  if (tx.qtype === RrType.RRSIG) tx.isDo = false
  const written = writeNsecRecord(tx, bundle, zone, tx.owner, tx.qnameStart)
  tx.isDo = isDo
  if (written < 0) {
    tx.isTruncated = true
    return
  }
  tx.answerCount += written
  if (tx.qtype === RrType.NSEC) return
  const end = tx.at
  const signatures = tx.signer.signDenial(tx, zone, tx.owner, start, tx.qnameStart)
  if (signatures === cannotSign) tx.isUnsignable = true
  if (signatures < 0) tx.isTruncated = true
  // Moves the signature over the record that it signs.
  const { reply } = tx
  for (let i = end; i < tx.at; i++) reply[start + i - end] = reply[i]!
  tx.at = start + tx.at - end
}

/** True for types that a signer derives from the other types of a name. */
export function isOfProof(qtype: number): boolean {
  return qtype === RrType.NSEC || qtype === RrType.RRSIG
}

export function isKeyType(qtype: number): boolean {
  return qtype === RrType.DNSKEY || qtype === RrType.CDS || qtype === RrType.CDNSKEY
}

/**
 * Answers the key records at the apex of a signed zone. RFC 7344 section 4.
 *
 * @returns false, with nothing written: there are none of this type
 */
export function answerKeys(tx: Transaction, bundle: Bundle, zone: number): boolean {
  const { qtype } = tx
  return writeOfKeys(tx, bundle, zone, tx.signer.keyRdata(zone, qtype))
}

/**
 * Answers DS of a zone of ours directly below another: the records of its keys for the parent, as
 * in CDS. RFC 7344 section 3.1.
 *
 * @returns as `answerKeys`
 */
function answerChildDs(tx: Transaction, bundle: Bundle, child: number, parent: number): boolean {
  const { signer } = tx
  if (child === parent || !signer.signs(child) || !signer.signs(parent)) return false
  return writeOfKeys(tx, bundle, parent, signer.keyRdata(child, RrType.CDS))
}

/** Whether it was answered with the DS records of a zone of ours that begins at the node. */
export function isChildDs(tx: Transaction, bundle: Bundle, node: number, zone: number): boolean {
  return tx.qtype === RrType.DS && answerChildDs(tx, bundle, zoneOfNode(bundle, node), zone)
}

/**
 * Notes in `tx.signal` what stands at qname below a name server of ours, in a zone that says what
 * keys others have. RFC 9615.
 *
 * @param label where the closest encloser begins: the name server
 * @returns whether it is such a name, or one beside them that is not there
 */
export function findSignal(tx: Transaction, label: number): boolean {
  const { qname, qnameStart, signer } = tx
  const top = tx.labelOffset[label]! - seam.signalLabel.length
  if (top < qnameStart) return false
  for (let i = 0; i < seam.signalLabel.length; i++) {
    if (qname[top + i] !== seam.signalLabel[i]) return false
  }
  if (signer.signalAt(qname, top) === noSignal) return false
  tx.signal = signer.signalAt(qname, qnameStart)
  return true
}

/** @returns as `answerKeys` */
export function answerSignal(tx: Transaction, bundle: Bundle, zone: number): boolean {
  const { qtype, signal } = tx
  tx.isAuthoritative = true
  if (signal < 0 || (qtype !== RrType.CDS && qtype !== RrType.CDNSKEY)) return false
  return writeOfKeys(tx, bundle, zone, tx.signer.keyRdata(signal, qtype))
}

/**
 * @param zone signs the records
 * @param keys undefined: no key is here
 */
function writeOfKeys(
  tx: Transaction,
  bundle: Bundle,
  zone: number,
  keys: readonly Uint8Array[] | undefined,
): boolean {
  if (keys === undefined) {
    tx.isUnsignable = true
    return true
  }
  if (keys.length === 0) return false
  const { qtype } = tx
  const ttlSeconds = soaTtlSeconds(bundle, zone)
  const start = tx.at
  let all = 0
  while (all >= 0 && all < keys.length) {
    all = writeRdata(tx, tx.owner, qtype, ttlSeconds, keys[all]!) ? all + 1 : -1
  }
  countAnswer(tx, zone, start, all, -1, unknownPart)
  return true
}

/**
 * Fails what the records of a zone from elsewhere would answer, while they are not here. What a
 * service answers itself is known.
 */
function isAbsent(tx: Transaction, bundle: Bundle, zone: number, node: number): boolean {
  if (tx.view!.absent![zone] === 0) return false
  const { qtype } = tx
  const isAddress = qtype === RrType.A || qtype === RrType.AAAA
  if (isAddress && node >= 0 && serviceOfNode(bundle, node) >= 0) return false
  tx.isAbsent = true
  // The whole answer fails.
  tx.isUnsignable = true
  return true
}

/**
 * A zone that is to be signed is never answered without its key, nor one from elsewhere without its
 * records.
 */
export function failWhole(tx: Transaction, recordsStart: number): void {
  tx.at = recordsStart
  tx.answerCount = 0
  tx.authorityCount = 0
  tx.additionalCount = 0
  tx.ecsScope = 0
  tx.isTruncated = false
  tx.isAuthoritative = false
  tx.rcode = Rcode.ServFail
  if (tx.isAbsent) explain(tx, ExtendedError.InvalidData, EdeText.Absent)
  else explain(tx, ExtendedError.NotReady, EdeText.NoKey)
}
