// Writes names into the reply with compression: a suffix that is already there becomes a pointer.
// RFC 1035 section 4.1.4.
import { HeaderOffset } from '#dns/header.ts'
import * as names from '#dns/name.ts'
import * as transaction from './transaction.ts'
import type { Transaction } from './transaction.ts'

// Local constants are faster than imports: see answer.ts.
const { foldTable, nameLimits } = names
const { labelBytesMax } = nameLimits
const { writtenLabelsMax } = transaction
const { End: qnameOffset } = HeaderOffset

/** Greatest offset of a compression pointer. */
export const pointerMax = 0x3fff

/** Stands for the root in place of an offset: no name needs a pointer to it. */
export const root = 0

/**
 * Writes labels, then a pointer to the longest suffix that the reply has. On false the caller must
 * end the reply: labels of a record that is taken back stay noted.
 *
 * @param from of the labels in `octets`, without the end of the name
 * @param above offset in the message of the name behind the labels, or `root`
 * @returns false when it does not fit; else `nameOffset` is the offset of the name
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

/** Notes an uncompressed name in the message for later names. */
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

/** Notes qname only now: most replies have no name that could be compressed. */
function begin(tx: Transaction): void {
  tx.writtenCount = 0
  const labels = labelsOf(tx, tx.reply, tx.replyStart + qnameOffset)
  noteLabels(tx, labels, qnameOffset, root)
}

/** Fills `nameLabels` for a name without pointers. @returns the number of labels */
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
 * Finds a label in front of a noted name. The search is linear: few labels are noted, and a hash of
 * them cost NXDOMAIN a third.
 *
 * @returns offset of the label at `octets[at]` in front of the name at `above`, or -1
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

/** The first offset at which the name stands, as far as it is noted. */
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
 * @param bytesMax octets to copy; the rest of the name is left out
 * @returns the number of octets
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
