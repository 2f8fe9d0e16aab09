// Writes names into the reply with compression: an ending that already stands there becomes a
// pointer. RFC 1035 section 4.1.4.
import { HeaderOffset } from '#dns/header.ts'
import * as names from '#dns/name.ts'
import * as transaction from './transaction.ts'
import type { Transaction } from './transaction.ts'

// Constants of this file, for the reason that answer.ts gives.
const { foldTable, nameLimits } = names
const { labelBytesMax } = nameLimits
const { writtenLabelsMax } = transaction
const { End: qnameOffset } = HeaderOffset

/** What a compression pointer can point to. */
export const pointerMax = 0x3fff

/** In place of an offset: no name needs a pointer to the root. */
export const root = 0

/**
 * Writes labels, and a pointer to the longest end of the name that the reply has. The
 * caller ends the reply at false: labels of a record that is taken back stay noted.
 *
 * @param from of the labels in `octets`, without what ends the name
 * @param above offset in the message of the name behind the labels, or `root`
 * @returns false when it does not fit; else `nameOffset` says where the name stands
 */
export function writeName(
  tx: Transaction,
  octets: Uint8Array,
  from: number,
  end: number,
  above: number,
): boolean {
  if (tx.writtenCount < 0) begin(tx)
  const { nameLabels, reply, replyStart } = tx
  let labels = 0
  for (let at = from; at < end; at += octets[at]! + 1) nameLabels[labels++] = at - from
  let known = above
  let rest = end
  while (labels > 0) {
    const label = from + nameLabels[labels - 1]!
    const found = findLabel(tx, known, octets, label)
    if (found < 0) break
    known = found
    rest = label
    labels--
  }
  if (tx.at + rest - from + (known === root ? 1 : 2) > tx.recordsEnd) return false
  const start = tx.at - replyStart
  tx.nameOffset = rest > from || known === root ? start : known
  let { at } = tx
  for (let i = from; i < rest; i++) reply[at++] = octets[i]!
  if (known !== root) reply[at++] = 0xc0 | (known >> 8)
  reply[at++] = known & 0xff
  tx.at = at
  noteLabels(tx, labels, start, known)
  return true
}

/** Notes a name that stands in the message whole, for names that come after it. */
export function noteName(tx: Transaction, offset: number): void {
  if (tx.writtenCount < 0) begin(tx)
  const { nameLabels, reply, replyStart } = tx
  let labels = labelsOf(tx, reply, replyStart + offset)
  let known = root
  while (labels > 0) {
    const found = findLabel(tx, known, reply, replyStart + offset + nameLabels[labels - 1]!)
    if (found < 0) break
    known = found
    labels--
  }
  noteLabels(tx, labels, offset, known)
}

/** Most replies have no name that could be shorter, and come without the table. */
function begin(tx: Transaction): void {
  tx.writtenCount = 0
  const labels = labelsOf(tx, tx.reply, tx.replyStart + qnameOffset)
  noteLabels(tx, labels, qnameOffset, root)
}

/** Fills `nameLabels` of a name without pointers. @returns how many labels it has */
function labelsOf({ nameLabels }: Transaction, octets: Uint8Array, start: number): number {
  let labels = 0
  for (let at = start; octets[at] !== 0; at += octets[at]! + 1) nameLabels[labels++] = at - start
  return labels
}

/**
 * Notes labels that are not noted yet.
 *
 * @param labels how many of `nameLabels`, counted from `start`
 * @param above offset of the name behind the last of them
 */
function noteLabels(tx: Transaction, labels: number, start: number, above: number): void {
  let known = above
  for (let i = labels - 1; i >= 0; i--) {
    const offset = start + tx.nameLabels[i]!
    if (offset > pointerMax || tx.writtenCount === writtenLabelsMax) return
    tx.writtenOffset[tx.writtenCount] = offset
    tx.writtenAbove[tx.writtenCount++] = known
    known = offset
  }
}

/**
 * Few labels are noted, and fewer in front of one name: a hash of them cost NXDOMAIN a third.
 *
 * @returns where the label at `octets[at]` stands in front of the name at `above`, or -1
 */
function findLabel(tx: Transaction, above: number, octets: Uint8Array, at: number): number {
  const { reply, replyStart, writtenAbove, writtenCount, writtenOffset } = tx
  for (let entry = 0; entry < writtenCount; entry++) {
    if (writtenAbove[entry] !== above) continue
    const offset = writtenOffset[entry]!
    let other = replyStart + offset
    if (reply[other] !== octets[at]) continue
    const end = at + octets[at]!
    let i = at + 1
    while (i <= end && foldTable[reply[++other]!] === foldTable[octets[i]!]) i++
    if (i > end) return offset
  }
  return -1
}

/** Where the name at an offset stands for the first time, as far as that is noted. */
export function firstPlace(tx: Transaction, offset: number): number {
  const { nameLabels, nameOctets } = tx
  readName(tx, offset, nameLimits.bytesMax)
  let labels = labelsOf(tx, nameOctets, 0)
  let known = root
  while (labels > 0) {
    known = findLabel(tx, known, nameOctets, nameLabels[--labels]!)
    if (known < 0) return offset
  }
  return known
}

/**
 * Copies a name of the message into `nameOctets`, following pointers.
 *
 * @param bytesMax of it; what is behind them is left out
 * @returns how many octets it has
 */
export function readName(tx: Transaction, offset: number, bytesMax: number): number {
  const { nameOctets, reply, replyStart } = tx
  let at = replyStart + offset
  let bytes = 0
  while (bytes < bytesMax) {
    const length = reply[at]!
    if (length > labelBytesMax) {
      at = replyStart + (((length & 0x3f) << 8) | reply[at + 1]!)
      continue
    }
    for (let i = 0; i <= length; i++) nameOctets[bytes++] = reply[at++]!
    if (length === 0) break
  }
  return bytes
}
