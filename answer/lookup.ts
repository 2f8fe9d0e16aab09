// Finds the node that answers for a qname: exact match, wildcard, or closest encloser.
import { nodeFlags, nodeNameBytes } from '#bundle/format/bundle.ts'
import type { Bundle } from '#bundle/format/bundle.ts'
import * as cells from '#bundle/format/cells.ts'
import { NodeFlag } from '#bundle/format/cells.ts'
import { findStored } from '#bundle/load/find-node.ts'
import { finishHash, mixWord } from '#dns/name.ts'
import { fromOctet } from './question.ts'
import * as transaction from './transaction.ts'
import type { Transaction } from './transaction.ts'

// Local constants are faster than imports: see answer.ts.
const { inlineNameBytes, NodeCell } = cells
const { qnameEnd } = transaction

const asterisk = 0x2a

/** @returns the node named qname, or -1 */
export function findName(tx: Transaction, bundle: Bundle): number {
  return findFrom(tx, bundle, tx.qnameStart, tx.qnameHash)
}

/**
 * The suffixes of qname must have been hashed, unless `label` is 0.
 *
 * @returns the node named by the labels of qname from `label` on, or -1
 */
export function findSuffix(tx: Transaction, bundle: Bundle, label: number): number {
  if (label === 0) return findName(tx, bundle)
  if (label < tx.firstSuffix) return -1
  return findFrom(tx, bundle, tx.labelOffset[label]!, tx.suffixHash[label]!)
}

/**
 * @param hash of that name under the seed of `bundle`
 * @returns the node named by the octets of `qname` from `start` on, or -1
 */
export function findFrom(tx: Transaction, bundle: Bundle, start: number, hash: number): number {
  const { nameIndex, nameIndexMask } = bundle
  const length = qnameEnd - start
  // The loader has proved that there is a free slot, so the walk ends.
  for (let slot = hash & nameIndexMask; ; slot = (slot + 1) & nameIndexMask) {
    const node = nameIndex[slot * 2 + 1]! - 1
    if (node < 0) return -1
    if ((nameIndex[slot * 2]! | 0) !== hash || nodeNameBytes(bundle, node) !== length) continue
    const isSame =
      length <= inlineNameBytes
        ? hasInlineName(tx, bundle, node, start)
        : hasLongName(tx, bundle, node, start)
    if (isSame) return node
  }
}

/** @returns the node in the second tree with the name of a node of the first, or -1 */
export function findWrittenNode(dynamic: Bundle, bundle: Bundle, node: number): number {
  const { names, nodeRow } = bundle
  return findStored(dynamic, names, nodeRow[node * NodeCell.Words + NodeCell.NameOffset]!)
}

/**
 * Compares the words at the end of `qname` with those in a row: equal exactly for the same name.
 */
function hasInlineName(
  { qnameWords }: Transaction,
  { nodeRow }: Bundle,
  node: number,
  start: number,
): boolean {
  const row = (node + 1) * NodeCell.Words - (qnameEnd >> 2)
  let word = start >> 2
  const first = fromOctet(qnameWords[word]!, start & 3)
  if ((nodeRow[row + word]! | 0) !== first) return false
  while (++word < qnameEnd >> 2) if (nodeRow[row + word] !== qnameWords[word]) return false
  return true
}

function hasLongName(
  { qname }: Transaction,
  { names, nodeRow }: Bundle,
  node: number,
  start: number,
): boolean {
  const name = nodeRow[node * NodeCell.Words + NodeCell.NameOffset]! - start
  let at = start
  while (at < qnameEnd && names[name + at] === qname[at]) at++
  return at === qnameEnd
}

/**
 * Finds the first label from `firstLabel` on whose suffix exists: the closest encloser of RFC 4592
 * section 3.3.1. The suffixes of qname have been hashed.
 *
 * @returns the label's position, for `findSuffix` and `findWildcard`; -1 when nothing above exists
 */
export function findClosestEncloser(tx: Transaction, bundle: Bundle, firstLabel: number): number {
  for (let label = Math.max(firstLabel, tx.firstSuffix); label <= tx.labelCount; label++) {
    if (findSuffix(tx, bundle, label) >= 0) return label
  }
  return -1
}

/**
 * @param label at which the encloser begins in qname, not the first
 * @returns the node `*.<encloser>`, or -1
 */
export function findWildcard(
  tx: Transaction,
  bundle: Bundle,
  encloser: number,
  label: number,
): number {
  if ((nodeFlags(bundle, encloser) & NodeFlag.HasWildcard) === 0) return -1
  const { qname } = tx
  // The label before the encloser has two octets at least: for the search they become those of `*`.
  const start = tx.labelOffset[label]! - 2
  const first = qname[start]!
  const second = qname[start + 1]!
  qname[start] = 1
  qname[start + 1] = asterisk
  const node = findFrom(tx, bundle, start, hashFrom(tx, start))
  qname[start] = first
  qname[start + 1] = second
  return node
}

/** Hash of the name in `qname` from `start` on. */
export function hashFrom({ qnameWords, nameSeed }: Transaction, start: number): number {
  let hash = nameSeed
  let word = qnameEnd >> 2
  while (word * 4 > start + 3) hash = mixWord(hash, qnameWords[--word]!)
  const rest = start & 3
  return finishHash(rest === 0 ? hash : mixWord(hash, fromOctet(qnameWords[word - 1]!, rest)))
}
