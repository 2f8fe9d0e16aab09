// Answers from TXT records written at run time: a second, small bundle beside the first.
import { findRrset } from '#bundle/format/bundle.ts'
import type { Bundle } from '#bundle/format/bundle.ts'
import * as cells from '#bundle/format/cells.ts'
import { nameLimits } from '#dns/name.ts'
import * as rrtypes from '#dns/rrtype.ts'
import { findFrom, findStored, findWildcard } from './lookup.ts'
import { hashSuffixes } from './question.ts'
import type { Transaction } from './transaction.ts'

// Local constants are faster than imports: see answer.ts.
const { NodeCell } = cells
const { RrType } = rrtypes

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
 * Finds the TXT rrset in the second tree for the name of a node of the first. It includes the
 * static records of the name: they are one rrset. RFC 2181 section 5.
 *
 * @returns row in the `rrsetRow` of `dynamic`, or -1
 */
export function findDynamicText(dynamic: Bundle, bundle: Bundle, node: number): number {
  const { names, nodeRow } = bundle
  const same = findStored(dynamic, names, nodeRow[node * NodeCell.Words + NodeCell.NameOffset]!)
  return same < 0 ? -1 : findRrset(dynamic, same, RrType.TXT)
}
