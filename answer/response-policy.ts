// Applies response rules: to the question before anything else, then to targets of aliases.
import { nodeFlags, zoneOfNode } from '#bundle/format/bundle.ts'
import type { Bundle } from '#bundle/format/bundle.ts'
import { NodeFlag, ResponseCell } from '#bundle/format/cells.ts'
import { ResponseAction, ResponseBits } from '#bundle/format/response-rules.ts'
import { ExtendedError } from '#dns/edns-codes.ts'
import { Rcode } from '#dns/rcode.ts'
import { metaTypeMax, metaTypeMin, RrType } from '#dns/rrtype.ts'
import { unknownPart } from '#answer/signing/signer.ts'
import { followWritten } from './aliases.ts'
import { deny, isOfProof, proveAlias } from './denial.ts'
import { EdeText, explain } from './edns.ts'
import { findClosestEncloser, findSuffix } from './lookup.ts'
import { hashSuffixes } from './question.ts'
import { writeCname } from './records.ts'
import { signed, writeDenialSoa } from './rrsets.ts'
import { qnameEnd } from './transaction.ts'
import type { Transaction } from './transaction.ts'
import { findRedirect } from './zone-cut.ts'

/**
 * TTL in seconds of the alias that a rule makes; short, so that resolvers soon forget a removed
 * rule.
 */
const responseTtlSeconds = 60

/**
 * Answers for the current name, qname or the target of an alias, if a rule matches. The first rule
 * that matches decides for the whole answer, as in BIND and Unbound. Hashes the suffixes of the
 * name.
 *
 * @returns true when the answer ends here; false: the current name is answered as if there were no
 * rules; after a rule with an alias, that name is its target
 */
export function answerByRule(tx: Transaction, bundle: Bundle): boolean {
  hashSuffixes(tx, bundle.nameLabelsMax)
  const rule = findRule(tx, bundle)
  if (rule < 0) return false
  tx.rule = rule
  countHit(tx.view!.responseHits, rule)
  const row = rule * ResponseCell.Words
  const bits = bundle.responseRow[row + ResponseCell.Bits]!
  const action = (bits >> ResponseBits.ActionShift) & ResponseBits.ActionMask
  if (action === ResponseAction.Passthru) return false
  // Outside of our zones there is no authority to claim and no SOA to give.
  const zone = zoneAround(tx, bundle)
  if (tx.aliasCount === 0) {
    tx.isGrouped = true
    tx.group = rule
    tx.isForeign = zone < 0
    tx.isAuthoritative = zone >= 0
  }
  const signing = (bits & ResponseBits.Signed) !== 0 ? signingZone(tx, bundle) : -1
  if (action === ResponseAction.Cname) return !followRule(tx, bundle, row, bits, signing)
  tx.rcode = Rcode.NXDomain
  explain(tx, ExtendedError.Blocked, EdeText.None)
  const wantsProof = tx.isDo || isOfProof(tx.qtype)
  if (signing >= 0 && wantsProof) deny(tx, bundle, signing, -1)
  else if (zone >= 0) writeDenialSoa(tx, bundle, zone, false)
  return true
}

/**
 * @param signing zone that signs the alias, or -1
 * @returns true when the transaction now answers for the target of the rule's alias
 */
function followRule(
  tx: Transaction,
  bundle: Bundle,
  row: number,
  bits: number,
  signing: number,
): boolean {
  // A domain rule matches names that clients make up.
  tx.isAnyName ||= (bits & ResponseBits.Domain) !== 0
  if (signing >= 0 && isOfProof(tx.qtype)) {
    proveAlias(tx, bundle, signing)
    return false
  }
  const target = bundle.responseRow[row + ResponseCell.Target]!
  const length = (bits >> ResponseBits.TargetShift) & ResponseBits.TriggerMask
  const start = tx.at
  const isWritten = writeCname(tx, responseTtlSeconds, bundle.responseNames, target, length)
  const all = isWritten ? 1 : -1
  const written = signing < 0 ? all : signed(tx, signing, start, all, -1, unknownPart)
  if (written < 0) {
    tx.isTruncated = true
    return false
  }
  tx.answerCount += written
  return tx.qtype !== RrType.ANY && followWritten(tx)
}

/**
 * The suffixes of qname have been hashed.
 *
 * @returns the rule for the question: its exact one, else its deepest domain's; -1: none
 */
function findRule(tx: Transaction, bundle: Bundle): number {
  // Meta types ask for an action, not for data of a name.
  const { qtype } = tx
  if (qtype >= metaTypeMin && qtype <= metaTypeMax && qtype !== RrType.ANY) return -1
  if (isOfChain(qtype) && isSignedApex(tx, bundle)) return -1
  const exact = tx.firstSuffix === 0 ? ruleAt(tx, bundle, 0, 0) : -1
  if (exact >= 0) return exact
  // The root has no rule.
  for (let label = tx.firstSuffix; label < tx.labelCount; label++) {
    const domain = ruleAt(tx, bundle, label, ResponseBits.Domain)
    if (domain >= 0) return domain
  }
  return -1
}

/** Whether validators need the type for every other name of a zone: no rule may hide it. */
function isOfChain(qtype: number): boolean {
  return (
    qtype === RrType.DNSKEY ||
    qtype === RrType.DS ||
    qtype === RrType.CDS ||
    qtype === RrType.CDNSKEY
  )
}

function isSignedApex(tx: Transaction, bundle: Bundle): boolean {
  if (findClosestEncloser(tx, bundle, 0) !== 0) return false
  const node = findSuffix(tx, bundle, 0)
  const isApex = (nodeFlags(bundle, node) & NodeFlag.Apex) !== 0
  return isApex && tx.signer.signs(zoneOfNode(bundle, node))
}

/** @param kind 0 or `ResponseBits.Domain`: a name may have a rule of each kind */
function ruleAt(tx: Transaction, bundle: Bundle, firstLabel: number, kind: number): number {
  const { responseIndex, responseIndexMask, responseRow, responseNames } = bundle
  if (tx.labelCount === 0) return -1
  const { qname } = tx
  const start = tx.labelOffset[firstLabel]!
  const wanted = (qnameEnd - start) | kind
  const hash = tx.suffixHash[firstLabel]!
  // The loader has proved that there is a free slot, so the walk ends.
  for (let slot = hash & responseIndexMask; ; slot = (slot + 1) & responseIndexMask) {
    const rule = responseIndex[slot * 2 + 1]! - 1
    if (rule < 0) return -1
    if ((responseIndex[slot * 2]! | 0) !== hash) continue
    const row = rule * ResponseCell.Words
    const bits = responseRow[row + ResponseCell.Bits]!
    if ((bits & (ResponseBits.TriggerMask | ResponseBits.Domain)) !== wanted) continue
    const trigger = responseRow[row + ResponseCell.Trigger]!
    const length = wanted & ResponseBits.TriggerMask
    let i = 0
    while (i < length && responseNames[trigger + i] === qname[start + i]) i++
    if (i === length) return rule
  }
}

/** @returns the zone of ours that contains qname, or -1 */
function zoneAround(tx: Transaction, bundle: Bundle): number {
  const label = findClosestEncloser(tx, bundle, 0)
  if (label < 0) return -1
  return zoneOfNode(bundle, findSuffix(tx, bundle, label))
}

/**
 * The zone whose key signs a rule's answer for qname. Delegated names have none: the key of the
 * zone above proves nothing about them.
 *
 * @returns -1: there is none, or it is not signed
 */
export function signingZone(tx: Transaction, bundle: Bundle): number {
  const label = findClosestEncloser(tx, bundle, 0)
  if (label < 0) return -1
  const node = findSuffix(tx, bundle, label)
  const flags = nodeFlags(bundle, node)
  const isApex = (flags & NodeFlag.Apex) !== 0
  if (label === 0 && !isApex && (flags & NodeFlag.Cut) !== 0) return -1
  const redirect = findRedirect(tx, bundle, node, label)
  if (redirect >= 0 && (nodeFlags(bundle, findSuffix(tx, bundle, redirect)) & NodeFlag.Cut) !== 0) {
    return -1
  }
  const own = zoneOfNode(bundle, node)
  // RFC 4035 section 3.1.4.1: DS belongs to the zone above.
  const isOfParent = label === 0 && isApex && tx.qtype === RrType.DS
  const parent = isOfParent ? bundle.zoneParent[own]! : -1
  const zone = parent >= 0 ? parent : own
  return tx.signer.signs(zone) ? zone : -1
}

/** Increments the upper half when the lower one wraps. */
function countHit(cells: Int32Array, rule: number): void {
  if (Atomics.add(cells, rule * 2, 1) === -1) Atomics.add(cells, rule * 2 + 1, 1)
}
