// Checks the form of a query message around its question: counts and trailing records, and the
// rcode that they call for.
import * as jar from '#answer/cookies/cookie-jar.ts'
import * as codes from '#dns/edns-codes.ts'
import * as header from '#dns/header.ts'
import * as rcodes from '#dns/rcode.ts'
import { RrType } from '#dns/rrtype.ts'
import { checkCookie, EdeText, explain, isLoneOpt, readOpt } from './edns.ts'
import { readQuestion } from './question.ts'
import * as transaction from './transaction.ts'
import type { Transaction } from './transaction.ts'

// Local constants are faster than imports: see answer.ts.
const { ExtendedError } = codes
const { HeaderOffset, Opcode } = header
const { Rcode } = rcodes
const { CookieKind } = jar
const { Udp: udp } = transaction.Transport

/**
 * Reads question and OPT record, and sets the rcode that the form of the message calls for.
 *
 * @returns the offset after the question, or -1 when no question is echoed
 */
export function readMessage(
  tx: Transaction,
  query: Uint8Array,
  start: number,
  end: number,
  opcode: number,
): number {
  const { queryView } = tx
  const questions = queryView.getUint16(start + HeaderOffset.QdCount)
  const first = start + HeaderOffset.End
  const isOne = questions === 1
  const questionEnd = isOne
    ? readQuestion(tx, query, first, end)
    : skipQuestions(query, first, end, questions)
  const ignored =
    queryView.getUint16(start + HeaderOffset.AnCount) +
    queryView.getUint16(start + HeaderOffset.NsCount)
  const additional = queryView.getUint16(start + HeaderOffset.ArCount)
  // RFC 6891 section 6.1.1: a client that sends OPT gets OPT, even with an error.
  const isFine = questionEnd >= 0 && readRecords(tx, query, questionEnd, end, ignored, additional)
  checkCookie(tx)
  if (opcode !== Opcode.Query) {
    // An unsigned update may change nothing; signed ones are for the handler.
    tx.rcode = opcode === Opcode.Update ? Rcode.Refused : Rcode.NotImp
    if (opcode === Opcode.Update) {
      if (tx.takesUpdates) explain(tx, ExtendedError.Prohibited, EdeText.Unsigned)
      else explain(tx, ExtendedError.NotSupported, EdeText.UpdatesElsewhere)
    }
    // A responder does not know the primary servers of zones.
    if (opcode === Opcode.Notify && tx.takesUpdates) tx.isForHandler = true
    // Only in a QUERY are the octets after the header a question.
    tx.qtype = 0
    return -1
  }
  // RFC 9619: a query has one question. RFC 7873 section 5.4: or none, and a cookie.
  const asksForCookie = questions === 0 && tx.cookieKind !== CookieKind.None
  if (!isFine || (!isOne && !asksForCookie)) tx.rcode = Rcode.FormErr
  else if (tx.qtype >= RrType.TKEY && isExchanged(tx)) tx.isForHandler = true
  else if (tx.qtype === RrType.SOA && isCatalog(tx)) tx.isForHandler = true
  else if (tx.ednsVersion !== 0) tx.rcode = Rcode.BadVers
  else if (isBadCookie(tx, isOne)) tx.rcode = Rcode.BadCookie
  return isOne ? questionEnd : -1
}

/**
 * Whether the client must ask again with the cookie of this reply. RFC 7873 sections 5.2.3 and 5.4:
 * without a question, every cookie that is not valid gets this rcode.
 */
function isBadCookie(tx: Transaction, hasQuestion: boolean): boolean {
  const { cookieKind } = tx
  if (cookieKind === CookieKind.None || tx.hasValidCookie) return false
  if (!hasQuestion) return cookieKind !== CookieKind.ClientOnly
  return tx.transport === udp && tx.cookies.enforces()
}

/** Whether the question asks for a transfer, or for a key where this node agrees on keys. */
function isExchanged({ qtype, agreesOnKeys }: Transaction): boolean {
  if (qtype === RrType.TKEY) return agreesOnKeys
  return qtype === RrType.IXFR || qtype === RrType.AXFR
}

/** Whether the question names the catalog zone, which the handler serves. */
function isCatalog({ catalog, qname, qnameStart, qnameBytes }: Transaction): boolean {
  if (catalog.length === 0 || qnameBytes !== catalog.length) return false
  for (let i = 0; i < qnameBytes; i++) {
    if (qname[qnameStart + i] !== catalog[i]) return false
  }
  return true
}

/** @returns the offset after the questions, or -1 when one is cut off */
function skipQuestions(query: Uint8Array, offset: number, end: number, questions: number): number {
  let at = offset
  for (let i = 0; i < questions && at >= 0; i++) {
    at = skipName(query, at, end)
    if (at >= 0) at = at + 4 <= end ? at + 4 : -1
  }
  return at
}

/**
 * Walks the records after the question, and reads only the OPT record among the additional ones.
 * Each step consumes at least eleven octets, so the counts in the header cannot make it long.
 *
 * @returns false when a record is cut off, OPT comes twice or octets are left over
 */
function readRecords(
  tx: Transaction,
  query: Uint8Array,
  offset: number,
  end: number,
  ignored: number,
  additional: number,
): boolean {
  const records = ignored + additional
  if (records === 0) return offset === end
  // Nearly every resolver sends this one record and nothing else.
  if (records === 1 && additional === 1 && isLoneOpt(tx, offset, end)) {
    return readOpt(tx, offset + 3, end)
  }
  let at = offset
  for (let i = 0; i < records; i++) {
    const owner = at
    at = skipName(query, at, end)
    if (at < 0 || at + 10 > end) return false
    const type = readU16(query, at)
    const rdataEnd = at + 10 + readU16(query, at + 8)
    if (rdataEnd > end) return false
    if (i >= ignored && type === RrType.OPT) {
      // RFC 6891 sections 6.1.1 and 6.1.2: at most one OPT, owned by the root.
      if (tx.hasOpt || query[owner] !== 0) return false
      if (!readOpt(tx, at + 2, rdataEnd)) return false
    }
    if (type === RrType.TSIG) tx.isForHandler = true
    at = rdataEnd
  }
  return at === end
}

/**
 * @returns the offset after a name, or -1. A pointer ends a name; its target does not matter here.
 */
function skipName(query: Uint8Array, offset: number, end: number): number {
  let at = offset
  while (at < end) {
    const length = query[at]!
    if (length === 0) return at + 1
    if (length >= 0xc0) return at + 2
    if (length > 63) return -1
    at += length + 1
  }
  return -1
}

function readU16(octets: Uint8Array, at: number): number {
  return (octets[at]! << 8) | octets[at + 1]!
}
