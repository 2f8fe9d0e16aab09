// Answers from records written at run time: a second, small bundle beside the first.
import { findRrset, nodeFlags, zoneOfNode } from '#bundle/format/bundle.ts'
import type { Bundle } from '#bundle/format/bundle.ts'
import * as cells from '#bundle/format/cells.ts'
import { nameLimits } from '#dns/name.ts'
import * as rrtypes from '#dns/rrtype.ts'
import { followWrittenCname } from './aliases.ts'
import { answerAny, isChildDs, isOfProof, negative } from './denial.ts'
import { findFrom, findWildcard, findWrittenNode } from './lookup.ts'
import { hashSuffixes } from './question.ts'
import { apexOffset, countAnswer, writeRrset } from './rrsets.ts'
import * as seam from '#answer/signing/signer.ts'
import type { Transaction } from './transaction.ts'

// Local constants are faster than imports: see answer.ts.
const { NodeFlag } = cells
const { RrType } = rrtypes
const { unknownPart } = seam

/** Greater than any label position. */
const nowhere = nameLimits.labelsMax + 1

/**
 * Finds where qname or its closest encloser begins in the second tree, and the node that answers
 * for it: that of the name, or the wildcard below the encloser. Hashes the suffixes of qname again,
 * since each bundle has its own seed.
 */
export function findDynamic(tx: Transaction, dynamic: Bundle | undefined): void {
  tx.dynamicLabel = nowhere
  tx.dynamicNode = -1
  if (dynamic === undefined) return
  const seed = tx.nameSeed
  tx.nameSeed = dynamic.nameSeed
  hashSuffixes(tx, dynamic.nameLabelsMax)
  for (let label = tx.firstSuffix; label <= tx.labelCount; label++) {
    const node = findFrom(tx, dynamic, tx.labelOffset[label]!, tx.suffixHash[label]!)
    if (node < 0) continue
    tx.dynamicLabel = label
    tx.dynamicNode = label === 0 ? node : findWildcard(tx, dynamic, node, label)
    break
  }
  tx.nameSeed = seed
}

/**
 * Finds an rrset in the second tree for the name of a node of the first. One of TXT includes the
 * static records of the name: they are one rrset (RFC 2181 section 5). Other types are in one tree
 * only.
 *
 * @returns row in the `rrsetRow` of `dynamic`, or -1
 */
export function findWritten(dynamic: Bundle, bundle: Bundle, node: number, type: number): number {
  const same = findWrittenNode(dynamic, bundle, node)
  return same < 0 ? -1 : findRrset(dynamic, same, type)
}

/** Writes an rrset of a node of the second tree as the answer. @param zone of the first tree */
export function answerWritten(
  tx: Transaction,
  dynamic: Bundle,
  node: number,
  rrset: number,
  zone: number,
): void {
  const start = tx.at
  const apex = apexOffset(tx, dynamic, zoneOfNode(dynamic, node))
  countAnswer(tx, zone, start, writeRrset(tx, dynamic, rrset, tx.owner, apex), -1, unknownPart)
}

/**
 * Whether a node of the second tree is an alias that is followed: not for the types that a signed
 * zone has beside it (RFC 4035 section 2.5).
 */
export function leadsOn(tx: Transaction, dynamic: Bundle, node: number, zone: number): boolean {
  if ((nodeFlags(dynamic, node) & NodeFlag.HasCname) === 0) return false
  return !isOfProof(tx.qtype) || !tx.signer.signs(zone)
}

/**
 * Answers from the second tree for a name that the first has without the type that is asked for.
 *
 * @returns as `answerName`
 */
export function answerBeside(
  tx: Transaction,
  bundle: Bundle,
  node: number,
  zone: number,
  dynamic: Bundle,
): boolean {
  const { qtype } = tx
  const same = findWrittenNode(dynamic, bundle, node)
  if (same >= 0 && leadsOn(tx, dynamic, same, zone)) {
    return followWrittenCname(tx, dynamic, same, zone)
  }
  const rrset = same < 0 ? -1 : findRrset(dynamic, same, qtype)
  if (qtype === RrType.ANY) answerAny(tx, bundle, zone)
  else if (rrset >= 0) answerWritten(tx, dynamic, same, rrset, zone)
  else if (!isChildDs(tx, bundle, node, zone)) negative(tx, bundle, zone, node)
  return false
}
