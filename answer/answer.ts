// The hot path: one query in, one reply out, in the order of the DNS message. RFC 1034 section
// 4.3.2.
import { findRrset, nodeFlags, serviceOfNode, zoneOfNode } from '#bundle/format/bundle.ts'
import type { Bundle } from '#bundle/format/bundle.ts'
import * as cells from '#bundle/format/cells.ts'
import * as rrsetFormat from '#bundle/format/rrsets.ts'
import * as routing from '#bundle/format/routing-cells.ts'
import { ExtendedError } from '#dns/edns-codes.ts'
import * as header from '#dns/header.ts'
import * as rcodes from '#dns/rcode.ts'
import * as rrtypes from '#dns/rrtype.ts'
import * as ways from '#routing/choose/ways.ts'
import * as routingQuery from '#routing/state/query.ts'
import type { Family } from '#routing/state/query.ts'
import { followCname, followDname, followWritten, followWrittenCname } from './aliases.ts'
import { keepFirstAlias } from './aliases.ts'
import * as jar from '#answer/cookies/cookie-jar.ts'
import { answerPolicy } from './answer-policy.ts'
import { answerChaos } from './chaos.ts'
import { answerBeside, answerWritten, findDynamic, findWritten, leadsOn } from './dynamic.ts'
import { EdeText, explain, optBytes, writeOpt } from './edns.ts'
import { findClosestEncloser, findName, findSuffix, findWildcard, hashFrom } from './lookup.ts'
import { mark } from '#answer/counters/mark.ts'
import * as limits from '#answer/rate-limit/limits.ts'
import { readMessage } from './message.ts'
import { hashSuffixes, isInternet } from './question.ts'
import { partOfMember, writeMember } from './records.ts'
import { answerAny, answerKeys, answerSignal, failWhole, findSignal } from './denial.ts'
import { isChildDs, isKeyType, isOfProof, negative } from './denial.ts'
import { answerByRule } from './response-policy.ts'
import { addCsyncSerial, apexOffset, countAnswer, writeRrset, writeTargets } from './rrsets.ts'
import * as seam from '#answer/signing/signer.ts'
import * as transaction from './transaction.ts'
import type { Transaction } from './transaction.ts'
import { findRedirect, noteZone, writeReferral } from './zone-cut.ts'

// V8 treats an imported name as a variable: it reads it and checks the shape of its object at each
// use. A constant of the file is a number in the machine code, which saves a sixth of an answer.
const { NodeCell, NodeFlag } = cells
const { CookieKind } = jar
const { FormBit, formBits } = rrsetFormat
const { Flag1, HeaderOffset, QClass } = header
const { Rcode } = rcodes
const { metaTypeMax, metaTypeMin, RrType } = rrtypes
const { plainByCode } = ways
const { firstPolicyCode } = routing
const { V4: v4, V6: v6 } = routingQuery.Family
const { noSignal, unknownPart } = seam
const { Transport } = transaction
const { Drop, Pass } = limits.Verdict

/** Largest UDP reply for a client without EDNS. RFC 1035 section 4.2.1. */
const plainUdpBytes = 512

/** Returned when nothing is written: the message is for `zones/exchange`. */
export const handedOver = -1

/**
 * Writes the reply to one query. Query and reply may be the same octets: everything needed of the
 * query is read before the first octet is written.
 *
 * @param replyMax room in `reply` from `replyOffset` on, at least 512
 * @returns octets of the reply; 0: no reply; `handedOver`, if `tx.handsOver`
 */
export function answer(
  tx: Transaction,
  query: Uint8Array,
  queryOffset: number,
  queryLength: number,
  reply: Uint8Array,
  replyOffset: number,
  replyMax: number,
): number {
  // Never answers a response: two servers would answer each other for ever.
  if (
    queryLength < HeaderOffset.End ||
    (query[queryOffset + HeaderOffset.Flags1]! & Flag1.Qr) !== 0
  ) {
    tx.counters.query(tx.transport, CookieKind.None)
    tx.counters.drop()
    return 0
  }
  tx.reset()
  if (query !== tx.query || reply !== tx.reply) tx.bind(query, reply)
  tx.replyStart = replyOffset
  const end = queryOffset + queryLength
  const opcode = (query[queryOffset + HeaderOffset.Flags1]! & Flag1.OpcodeMask) >> 3
  const questionEnd = readMessage(tx, query, queryOffset, end, opcode)
  // The message handler counts it.
  if (tx.isForHandler && tx.handsOver) return handedOver
  tx.counters.query(tx.transport, tx.cookieKind)

  copyHeader(query, queryOffset, reply, replyOffset)
  const headLength = questionEnd < 0 ? HeaderOffset.End : questionEnd - queryOffset
  if (query !== reply || queryOffset !== replyOffset) {
    for (let i = HeaderOffset.End; i < headLength; i++)
      reply[replyOffset + i] = query[queryOffset + i]!
  }
  tx.at = replyOffset + headLength
  const limit = replyOffset + Math.min(replyMax, sizeLimit(tx) - tx.reservedBytes)
  tx.recordsEnd = limit - optBytes(tx)
  if (tx.rcode === Rcode.NoError && questionEnd >= 0) resolve(tx)
  if (tx.isUnsignable) failWhole(tx, replyOffset + headLength)
  if (tx.limiter !== null && !tx.hasValidCookie) {
    const verdict = tx.limiter.judge(tx)
    if (verdict === Drop) return 0
    if (verdict !== Pass) slip(tx)
  }
  if (tx.isTruncated) dropRecords(tx, replyOffset + headLength)
  if (tx.hasOpt) writeOpt(tx, limit)
  finishHeader(tx, questionEnd >= 0)
  tx.counters.reply(tx.rcode, tx.qtype)
  return tx.at - replyOffset
}

/** Largest reply for this client, in octets. The query has been read. */
export function sizeLimit(tx: Transaction): number {
  if (tx.transport === Transport.Tcp) return 65_535
  if (!tx.hasOpt) return plainUdpBytes
  // RFC 6891 section 6.2.3: values below 512 mean 512.
  const most = tx.isDo ? tx.signedPayloadSize : tx.udpPayloadSize
  return Math.min(Math.max(tx.clientPayloadSize, plainUdpBytes), most)
}

/** Fills the reply from question to records. */
function resolve(tx: Transaction): void {
  const { qtype, view } = tx
  // Negative: no limit.
  if (tx.tokens >= 0 && isOverLimit(tx)) return
  if (tx.qclass === QClass.Ch) return answerChaos(tx)
  if (!isInternet(tx.qclass)) return refuse(tx)
  if (view === undefined) {
    explain(tx, ExtendedError.NotReady, EdeText.NoBundle)
    return refuse(tx)
  }
  if (qtype === RrType.OPT) {
    tx.rcode = Rcode.FormErr
    return
  }
  const { bundle } = view
  // Costs one comparison where there are no rules.
  if (bundle.responseIndexMask >= 0 && answerByRule(tx, bundle)) return
  if (tx.wantsZoneVersion && tx.aliasCount === 0) noteZone(tx, bundle)
  const node = findName(tx, bundle)
  const isPlain = node >= 0 && (nodeFlags(bundle, node) & beyondNode) === 0
  if (!isPlain) return answerNames(tx, bundle, node)
  if (isServable(tx) && answerNode(tx, bundle, node)) answerTargets(tx, bundle)
}

/** Nodes with one of these flags take more than their own row and rrsets to answer. */
const beyondNode = NodeFlag.Cut | NodeFlag.Below | NodeFlag.HasCname | NodeFlag.Alias
const aliasFlags = NodeFlag.HasCname | NodeFlag.Alias

/**
 * Answers for qname, then for the target of each alias. RFC 1034 section 4.3.2.
 *
 * @param found the node named qname, or -1
 */
function answerNames(tx: Transaction, bundle: Bundle, found: number): void {
  if (answerName(tx, bundle, found)) answerTargets(tx, bundle)
}

/** Answers for the target that an alias has led to, and so on. */
function answerTargets(tx: Transaction, bundle: Bundle): void {
  const hasRules = bundle.responseIndexMask >= 0
  do {
    if (hasRules && tx.rule < 0 && answerByRule(tx, bundle)) return
  } while (answerName(tx, bundle, findName(tx, bundle)))
}

/** Takes one of the licence's tokens; without one the answer is SERVFAIL. */
function isOverLimit(tx: Transaction): boolean {
  if (tx.tokens > 0) {
    tx.tokens--
    return false
  }
  tx.rcode = Rcode.ServFail
  tx.counters.overLimit()
  explain(tx, ExtendedError.Other, EdeText.QueryLimit)
  return true
}

/**
 * Answers for one name.
 *
 * @param exact the node of that name, or -1
 * @returns true when it was an alias: the target is the next name
 */
function answerName(tx: Transaction, bundle: Bundle, exact: number): boolean {
  if (exact < 0) findDynamic(tx, tx.view!.dynamic)
  hashSuffixes(tx, bundle.nameLabelsMax)
  const label = exact >= 0 ? 0 : findClosestEncloser(tx, bundle, 1)
  if (label < 0) {
    // A question outside of our zones is refused; the target of an alias may lie anywhere.
    if (tx.aliasCount > 0) return false
    explain(tx, ExtendedError.NotAuthoritative, EdeText.None)
    refuse(tx)
    return false
  }
  if (!isServable(tx)) return false
  const encloser = exact >= 0 ? exact : findSuffix(tx, bundle, label)
  const redirect = findRedirect(tx, bundle, encloser, label)
  if (redirect >= 0) return answerElsewhere(tx, bundle, redirect)
  let node = exact
  if (node < 0) {
    // RFC 4592 section 3.3.1: where the second tree encloses the name more closely, a wildcard of
    // the first does not apply. Nor does it below `_signal`, where a zone has that.
    const isSignal = tx.signer.hasSignals && findSignal(tx, label)
    if (tx.dynamicLabel >= label && !isSignal) node = findWildcard(tx, bundle, encloser, label)
    if (node < 0) return answerDynamic(tx, bundle, zoneOfNode(bundle, encloser), label)
    tx.isFromWildcard = true
    group(tx, tx.suffixHash[label]!)
    tx.isAnyName = true
  }
  if ((nodeFlags(bundle, node) & aliasFlags) !== 0 && isOfProof(tx.qtype)) {
    // RFC 4035 section 2.5: NSEC and RRSIG stand beside an alias, which is not followed for them.
    const zone = zoneOfNode(bundle, node)
    if (tx.signer.signs(zone)) {
      mark(tx.view!.usedNames, node)
      negative(tx, bundle, zone, node)
      return false
    }
  }
  if ((nodeFlags(bundle, node) & NodeFlag.HasCname) !== 0) {
    mark(tx.view!.usedNames, node)
    tx.isAuthoritative = true
    return followCname(tx, bundle, node)
  }
  const isAlias = (nodeFlags(bundle, node) & NodeFlag.Alias) !== 0
  if (isAlias && tx.qtype !== RrType.ANY) return answerAlias(tx, bundle, node)
  return answerNode(tx, bundle, node)
}

/**
 * Answers from the second tree for a name that the first does not have: an rrset, NODATA, or
 * NXDOMAIN.
 *
 * @param label at which the closest encloser in the first tree begins
 * @returns as `answerName`
 */
function answerDynamic(tx: Transaction, bundle: Bundle, zone: number, label: number): boolean {
  const { dynamic } = tx.view!
  if (tx.signal !== noSignal) {
    if (!answerSignal(tx, bundle, zone)) negative(tx, bundle, zone, -1)
    return false
  }
  const node = tx.dynamicNode
  if (dynamic === undefined || node < 0 || tx.dynamicLabel > label) {
    tx.rcode = Rcode.NXDomain
    group(tx, zone)
    negative(tx, bundle, zone, -1)
    return false
  }
  tx.isAuthoritative = true
  if (tx.dynamicLabel > 0) {
    tx.isFromWildcard = true
    group(tx, hashFrom(tx, tx.labelOffset[tx.dynamicLabel]!))
    tx.isAnyName = true
  }
  if (leadsOn(tx, dynamic, node, zone)) return followWrittenCname(tx, dynamic, node, zone)
  if (tx.qtype === RrType.ANY) answerAny(tx, bundle, zone)
  else {
    const rrset = findRrset(dynamic, node, tx.qtype)
    if (rrset < 0) negative(tx, bundle, zone, -1)
    else answerWritten(tx, dynamic, node, rrset, zone)
  }
  return false
}

/**
 * Groups names that share one answer, for the rate limit.
 *
 * @param shared hash of the name above them, or the number of a zone for all that it denies
 */
function group(tx: Transaction, shared: number): void {
  if (tx.aliasCount > 0) return
  tx.isGrouped = true
  // The enclosing name itself has another answer, hence the complement.
  tx.group = ~shared
}

/**
 * Answers from a service whose pool gives an alias, for every type (RFC 1034 section 3.6.2).
 *
 * @returns as `answerName`
 */
function answerAlias(tx: Transaction, bundle: Bundle, node: number): boolean {
  const { answerCount } = tx
  const service = serviceOfNode(bundle, node)
  mark(tx.view!.usedNames, node)
  tx.view!.serviceQueries[service]! += 1
  tx.isAuthoritative = true
  answerService(tx, bundle, node, service, v4)
  // RFC 7871 section 7.2.1: where the client's subnet mattered, only the first alias is given.
  if (tx.ecsScope > 0 || tx.answerCount <= answerCount || tx.isTruncated) return false
  return followWritten(tx)
}

/** Answers for a name at or below a cut, or below a DNAME record. @returns as `answerName` */
function answerElsewhere(tx: Transaction, bundle: Bundle, label: number): boolean {
  const node = findSuffix(tx, bundle, label)
  mark(tx.view!.usedNames, node)
  group(tx, tx.suffixHash[label]!)
  if ((nodeFlags(bundle, node) & NodeFlag.Cut) !== 0) {
    writeReferral(tx, bundle, node)
    return false
  }
  tx.isAuthoritative = true
  return followDname(tx, bundle, node, label)
}

/**
 * RFC 6895 section 3.1: meta types ask for an action. Transfers are refused, others are unknown.
 */
function isServable(tx: Transaction): boolean {
  const { qtype } = tx
  if (qtype < metaTypeMin || qtype > metaTypeMax || qtype === RrType.ANY) return true
  tx.rcode = qtype === RrType.AXFR || qtype === RrType.IXFR ? Rcode.Refused : Rcode.NotImp
  if (qtype === RrType.NXNAME) {
    // RFC 9824 section 3.5: NXNAME in a question is FORMERR.
    tx.rcode = Rcode.FormErr
    explain(tx, ExtendedError.InvalidQueryType, EdeText.None)
  }
  return false
}

/**
 * Answers from a node of ours: the name itself, or the wildcard that matches it.
 *
 * @returns as `answerName`
 */
function answerNode(tx: Transaction, bundle: Bundle, node: number): boolean {
  const { qtype } = tx
  const service = serviceOfNode(bundle, node)
  mark(tx.view!.usedNames, node)
  // Usage counts every query, of any type.
  if (service >= 0) tx.view!.serviceQueries[service]! += 1
  tx.isAuthoritative = true
  if (service >= 0 && (qtype === RrType.A || qtype === RrType.AAAA)) {
    answerService(tx, bundle, node, service, qtype === RrType.A ? v4 : v6)
    return false
  }
  const zone = zoneAnswering(bundle, node, qtype)
  const { dynamic, typed } = tx.view!
  // A text of the second tree comes with those of the first.
  const isText = qtype === RrType.TXT && dynamic !== undefined
  const beside = isText ? dynamic : typed
  const rrset =
    isText && findWritten(dynamic, bundle, node, qtype) >= 0 ? -1 : findRrset(bundle, node, qtype)
  if (isKeyType(qtype) && (nodeFlags(bundle, node) & NodeFlag.Signed) !== 0) {
    if (!answerKeys(tx, bundle, zone)) negative(tx, bundle, zone, node)
  } else if (rrset >= 0) {
    answerRrset(tx, bundle, node, rrset, zone)
  } else if (beside !== undefined) {
    return answerBeside(tx, bundle, node, zone, beside)
  } else if (qtype === RrType.ANY) {
    answerAny(tx, bundle, zone)
  } else if (!isChildDs(tx, bundle, node, zone)) {
    negative(tx, bundle, zone, node)
  }
  return false
}

/** The zone that answers for a node. RFC 4035 section 3.1.4.1: for DS, the one above the cut. */
export function zoneAnswering(bundle: Bundle, node: number, qtype: number): number {
  const zone = zoneOfNode(bundle, node)
  const isDsOfApex = qtype === RrType.DS && (nodeFlags(bundle, node) & NodeFlag.Apex) !== 0
  const parent = isDsOfApex ? bundle.zoneParent[zone]! : -1
  return parent >= 0 ? parent : zone
}

/** Writes the rrset, and the addresses of its targets in our zones as far as they fit. */
function answerRrset(
  tx: Transaction,
  bundle: Bundle,
  node: number,
  rrset: number,
  zone: number,
): void {
  const start = tx.at
  const written = writeRrset(tx, bundle, rrset, tx.owner, apexOffset(tx, bundle, zone))
  const isMoving = tx.qtype === RrType.CSYNC && written > 0 && addCsyncSerial(tx, start)
  countAnswer(tx, zone, start, written, node, isMoving ? unknownPart : rrset)
  if (written > 0 && (formBits[tx.qtype]! & FormBit.Target) !== 0) writeTargets(tx, bundle, false)
}

function answerService(
  tx: Transaction,
  bundle: Bundle,
  node: number,
  service: number,
  family: Family,
): void {
  const { nodeRow } = bundle
  const row = node * NodeCell.Words
  const zone = nodeRow[row + NodeCell.Zone]!
  const pool = nodeRow[row + NodeCell.Pool]! - 1
  if (pool < 0) return negative(tx, bundle, zone, node)
  const ttlSeconds = nodeRow[row + NodeCell.TtlSeconds]!
  const code = nodeRow[row + NodeCell.Algorithm]!
  const start = tx.at
  if (code < firstPolicyCode) {
    const query = tx.routing
    query.serviceIndex = service
    query.poolIndex = pool
    query.family = family
    const member = plainByCode[code]!.select(tx.view!.state, query, tx.random)
    tx.member = member
    if (member >= 0) {
      const all = writeMember(tx, bundle, member, family, ttlSeconds) ? 1 : -1
      return countAnswer(tx, zone, start, all, node, partOfMember(bundle, member))
    }
  } else {
    const policy = tx.view!.policies[code - firstPolicyCode]!
    const chosen = answerPolicy(tx, bundle, policy, service, pool, family, ttlSeconds)
    if (chosen !== 0) {
      tx.isAnyName ||= chosen > 1
      countAnswer(tx, zone, start, chosen, node, partOfMember(bundle, tx.chain.members[0]!))
      if (tx.aliasCount > 0 && tx.ecsScope > 0) keepFirstAlias(tx)
      return
    }
  }
  const hasFamily = (family === v4 ? bundle.poolCount4 : bundle.poolCount6)[pool]! > 0
  if (hasFamily) {
    tx.counters.noCandidate()
    explain(tx, ExtendedError.Other, EdeText.NoHealthyMember)
  }
  negative(tx, bundle, zone, node)
}

function refuse(tx: Transaction): void {
  tx.rcode = Rcode.Refused
}

/** Replaces an answer beyond a rate limit by one that is no longer than the query. */
function slip(tx: Transaction): void {
  tx.isTruncated = true
  tx.wantsNsid = false
  tx.wantsCommit = false
  tx.zoneLabels = -1
  tx.extendedError = -1
}

/** RFC 2181 section 9: a truncated answer has no records here, never half an rrset. */
function dropRecords(tx: Transaction, recordsStart: number): void {
  tx.counters.truncated()
  tx.at = recordsStart
  tx.answerCount = 0
  tx.authorityCount = 0
  tx.additionalCount = 0
  // None of the records left depends on the client's subnet.
  tx.ecsScope = 0
}

/**
 * Copies id, opcode and RD; the server sets all other flags. RFC 1035 section 4.1.1, RFC 4035
 * section 3.1.6.
 */
function copyHeader(query: Uint8Array, from: number, reply: Uint8Array, to: number): void {
  reply[to] = query[from]!
  reply[to + 1] = query[from + 1]!
  const kept = query[from + HeaderOffset.Flags1]! & (Flag1.OpcodeMask | Flag1.Rd)
  reply[to + HeaderOffset.Flags1] = Flag1.Qr | kept
}

function finishHeader(tx: Transaction, hasQuestion: boolean): void {
  const { reply, replyView, replyStart } = tx
  if (tx.isAuthoritative && !tx.isForeign) reply[replyStart + HeaderOffset.Flags1]! |= Flag1.Aa
  if (tx.isTruncated) reply[replyStart + HeaderOffset.Flags1]! |= Flag1.Tc
  reply[replyStart + HeaderOffset.Flags2] = tx.rcode & 0x0f
  const questions = hasQuestion ? 1 : 0
  replyView.setInt32(replyStart + HeaderOffset.QdCount, (questions << 16) | tx.answerCount)
  const { authorityCount, additionalCount } = tx
  replyView.setInt32(replyStart + HeaderOffset.NsCount, (authorityCount << 16) | additionalCount)
}
