// Parses the question into the transaction: the folded qname in whole words, and its hash.
import * as header from '#dns/header.ts'
import * as names from '#dns/name.ts'
import { finishHash, foldWord, mixWord } from '#dns/name.ts'
import * as transaction from './transaction.ts'
import type { Transaction } from './transaction.ts'

// Local constants are faster than imports: see answer.ts.
const { QClass } = header
const { nameLimits } = names
const { qnameEnd } = transaction

/**
 * RFC 1035 section 4.1.2. A compression pointer is an error: nothing stands before the question to
 * point at.
 *
 * @param query the one that `tx.bind` was called with
 * @param offset at least 3, as a header is longer
 * @returns the offset after the question, or -1 when it is malformed
 */
export function readQuestion(
  tx: Transaction,
  query: Uint8Array,
  offset: number,
  end: number,
): number {
  const nameMax = Math.min(end, offset + nameLimits.bytesMax)
  let labels = 0
  let at = offset
  for (;;) {
    if (at >= nameMax) return -1
    const length = query[at]!
    if (length === 0) break
    if (length > nameLimits.labelBytesMax) return -1
    at += length + 1
    labels++
  }
  at++
  if (at + 4 > end) return -1
  tx.qnameBytes = at - offset
  tx.qnameStart = qnameEnd - tx.qnameBytes
  tx.labelCount = labels
  tx.qtype = (query[at]! << 8) | query[at + 1]!
  tx.qclass = (query[at + 2]! << 8) | query[at + 3]!
  readName(tx, offset, at)
  return at + 4
}

/** Folds and hashes the name four octets at a time, from its end to its start. */
function readName(tx: Transaction, start: number, end: number): void {
  const { queryView, qnameWords } = tx
  let word = qnameEnd >> 2
  let hash = tx.nameSeed
  let at = end - 4
  for (; at >= start; at -= 4) {
    const folded = foldWord(queryView.getInt32(at, true))
    qnameWords[--word] = folded
    hash = mixWord(hash, folded)
  }
  if (at > start - 4) {
    const folded = foldWord(fromOctet(queryView.getInt32(at, true), start - at))
    qnameWords[--word] = folded
    hash = mixWord(hash, folded)
  }
  tx.qnameHash = finishHash(hash)
}

/** Clears the first octets of a word, 0 to 3, which do not belong to the name. */
export function fromOctet(word: number, octet: number): number {
  return word & (-1 << (octet * 8))
}

/**
 * Fills `labelOffset` and `suffixHash`: entry i is of the name that starts at label i, the last one
 * of the root. Suffixes deeper than any name in the bundle are left out.
 */
export function hashSuffixes(tx: Transaction, nameLabelsMax: number): void {
  const { qname, qnameWords, labelOffset, suffixHash, labelCount } = tx
  let at = tx.qnameStart
  for (let label = 0; label <= labelCount; label++) {
    labelOffset[label] = at
    at += qname[at]! + 1
  }
  tx.firstSuffix = Math.max(0, labelCount - nameLabelsMax)
  let hash = tx.nameSeed
  let word = qnameEnd >> 2
  for (let label = labelCount; label >= tx.firstSuffix; label--) {
    const start = labelOffset[label]!
    while (word * 4 > start + 3) hash = mixWord(hash, qnameWords[--word]!)
    const rest = start & 3
    if (rest === 0) suffixHash[label] = finishHash(hash)
    else suffixHash[label] = finishHash(mixWord(hash, fromOctet(qnameWords[word - 1]!, rest)))
  }
}

/** Class ANY is answered from IN, the only class with zones. RFC 1035 section 3.2.5. */
export function isInternet(qclass: number): boolean {
  return qclass === QClass.In || qclass === QClass.Any
}
