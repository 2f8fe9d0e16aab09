// Parses and writes the OPT record. RFC 6891 and the RFCs of the options.
import * as jar from '#answer/cookies/cookie-jar.ts'
import * as codes from '#dns/edns-codes.ts'
import * as rrtypes from '#dns/rrtype.ts'
import * as transaction from './transaction.ts'
import type { Transaction } from './transaction.ts'

// Local constants are faster than imports: see answer.ts.
const { EdnsOption, ednsCoBit, ednsDoBit, ExtendedError } = codes
const { RrType } = rrtypes
const { cookieBytes, CookieKind } = jar
const { Tcp: tcp } = transaction.Transport
const { Plain: plain, Https: https } = transaction.Carrier

/** Root name, type, class, TTL, RDLENGTH. */
const optHeaderBytes = 11
const optionHeaderBytes = 4
/** RFC 8467 section 4.1: blocks of replies. */
export const paddingBlockBytes = 468
/** Family, source, scope. */
const subnetHeaderBytes = 4
/** Label count, type, serial. RFC 9660 section 2. */
const zoneVersionBytes = 6
/** RFC 9660 section 2.1.1: SOA-SERIAL. */
const soaSerialVersion = 0
const noOctets = new Uint8Array(0)
const commitPrefix: Uint8Array = Buffer.from('commit ')

/** Short texts for the codes of RFC 8914 section 4. */
const extendedErrorTexts: readonly Uint8Array[] = [
  '',
  'no healthy member',
  'no bundle',
  'query limit',
  'updates go to a control node',
  'no key to sign this zone with',
  'the zone has expired or not come yet',
  'updates need a TSIG signature',
].map((text) => Buffer.from(text))
export const EdeText = {
  None: 0,
  NoHealthyMember: 1,
  NoBundle: 2,
  QueryLimit: 3,
  UpdatesElsewhere: 4,
  NoKey: 5,
  Absent: 6,
  Unsigned: 7,
} as const

/** True when a single OPT record, owned by the root, is all the rest of the message. */
export function isLoneOpt({ queryView }: Transaction, owner: number, end: number): boolean {
  if (owner + optHeaderBytes > end) return false
  // Root name, type, and half of the class.
  if (queryView.getInt32(owner) >>> 8 !== RrType.OPT) return false
  return owner + optHeaderBytes + queryView.getUint16(owner + 9) === end
}

/** Reads class, extended rcode, version and flags: six octets. */
function readOptHeader(tx: Transaction, at: number): void {
  tx.hasOpt = true
  tx.clientPayloadSize = tx.queryView.getUint16(at)
  const versionAndFlags = tx.queryView.getInt32(at + 2)
  tx.ednsVersion = (versionAndFlags >> 16) & 0xff
  tx.isDo = (versionAndFlags & ednsDoBit) !== 0
  tx.isCompactOk = (versionAndFlags & ednsCoBit) !== 0
}

/**
 * Reads an OPT record whose owner has been checked to be the root.
 *
 * @param at offset of CLASS, after TYPE
 * @param end offset after the record's RDATA
 * @returns false when it is malformed
 */
export function readOpt(tx: Transaction, at: number, end: number): boolean {
  readOptHeader(tx, at)
  const options = at + 8
  // RFC 6891 section 6.1.3: options of another version are not parsed.
  return options === end || tx.ednsVersion !== 0 || readOptions(tx, options, end)
}

function readOptions(tx: Transaction, from: number, end: number): boolean {
  tx.hasOptions = true
  let option = from
  while (option < end) {
    if (option + optionHeaderBytes > end) return false
    const codeAndLength = tx.queryView.getInt32(option)
    const code = codeAndLength >>> 16
    const length = codeAndLength & 0xffff
    const data = option + optionHeaderBytes
    option = data + length
    if (option > end) return false
    if (code === EdnsOption.ClientSubnet) {
      if (!readClientSubnet(tx, data, length)) return false
    } else if (code === EdnsOption.Nsid) {
      // RFC 5001 section 2.1: the option has no data in a query.
      if (length !== 0) return false
      tx.wantsNsid = true
    } else if (code === EdnsOption.ZoneVersion) {
      // RFC 9660 section 3.1: the option has no data in a query.
      if (length !== 0) return false
      tx.wantsZoneVersion = tx.hasZoneVersion
    } else if (code === EdnsOption.Cookie) {
      if (!readCookie(tx, data, length)) return false
    } else if (code === EdnsOption.ExtendedError) {
      tx.wantsCommit = tx.tellsCommit
    } else if (code === EdnsOption.Padding) {
      // RFC 7830 section 6: padding is pointless without encryption.
      tx.wantsPadding = tx.carrier !== plain
    } else if (code === EdnsOption.TcpKeepalive) {
      // RFC 7828 section 3.2.1: empty from a client; meaningless on UDP, and HTTP has its own.
      if (tx.transport === tcp && length !== 0) return false
      tx.wantsKeepalive = tx.transport === tcp && tx.carrier !== https
    }
  }
  return true
}

/** RFC 7873 section 5.2: only the first of several cookies counts. */
function readCookie(tx: Transaction, at: number, length: number): boolean {
  if (tx.cookieKind !== CookieKind.None || !tx.cookies.isOn()) return true
  const isWhole = tx.cookies.read(tx.queryView, at, length)
  tx.cookieKind = isWhole ? CookieKind.ClientOnly : CookieKind.Malformed
  return isWhole
}

/** Checks the cookie that was read, also for malformed messages: their replies have one, too. */
export function checkCookie(tx: Transaction): void {
  if (tx.cookieKind !== CookieKind.ClientOnly) return
  tx.cookieKind = tx.cookies.check(tx.source, tx.sourceAt, tx.sourceBytes)
  tx.hasValidCookie = tx.cookieKind === CookieKind.Valid
}

/** RFC 7871 sections 6 and 7.1.2: a client that breaks a rule gets FORMERR. */
function readClientSubnet(tx: Transaction, at: number, length: number): boolean {
  if (length < subnetHeaderBytes || tx.ecsAddressBytes >= 0) return false
  const { queryView, ecsWords } = tx
  // Family, source, scope.
  const header = queryView.getInt32(at)
  const family = header >>> 16
  const source = (header >> 8) & 0xff
  // Family 0 is allowed: section 7.1.2 lets a client that hides its address leave the family out.
  const bitsMax = family === 1 ? 32 : family === 2 ? 128 : family === 0 ? 0 : -1
  const octets = (source + 7) >> 3
  if (source > bitsMax || (header & 0xff) !== 0 || length !== subnetHeaderBytes + octets) {
    return false
  }
  const end = at + length
  let word = 0
  let last = 0
  let from = at + subnetHeaderBytes
  for (; from + 4 <= end; from += 4) ecsWords[word++] = last = queryView.getInt32(from)
  // The last word is read so that it ends at `end`; the shift drops the octets before it.
  if (from < end) ecsWords[word++] = last = queryView.getInt32(end - 4) << ((from + 4 - end) * 8)
  // Bits beyond the source prefix must be zero.
  if (octets > 0 && (last & (0x7fff_ffff >>> ((source - 1) & 31))) !== 0) return false
  const words = family === 1 ? 1 : 4
  while (word < words) ecsWords[word++] = 0
  tx.ecsFamily = family
  tx.ecsSource = source
  tx.ecsAddressBytes = octets
  return true
}

/** Octets reserved for the reply's OPT record. An extended error takes what is left. */
export function optBytes(tx: Transaction): number {
  if (!tx.hasOpt) return 0
  if (!tx.hasOptions) return optHeaderBytes
  let bytes = optHeaderBytes
  if (tx.wantsNsid && tx.nsid.length > 0) bytes += optionHeaderBytes + tx.nsid.length
  if (tx.ecsAddressBytes >= 0) bytes += optionHeaderBytes + subnetHeaderBytes + tx.ecsAddressBytes
  if (tx.cookieKind >= CookieKind.ClientOnly) bytes += optionHeaderBytes + cookieBytes
  if (tx.wantsKeepalive) bytes += optionHeaderBytes + 2
  if (tx.wantsZoneVersion) bytes += optionHeaderBytes + zoneVersionBytes
  return bytes
}

/** Writes the OPT record at `tx.at`; `optBytes` were reserved for it. */
export function writeOpt(tx: Transaction, replyMax: number): void {
  const { replyView, udpPayloadSize, at } = tx
  // RFC 9824 section 5.1: the flag tells that the rcode depends on the client's flag.
  const compact = tx.isCompactOk && tx.isDo && tx.view?.isSigning === true ? ednsCoBit : 0
  // Root name, type, class.
  replyView.setInt32(at, (RrType.OPT << 8) | (udpPayloadSize >> 8))
  replyView.setInt32(at + 4, (udpPayloadSize << 24) | ((tx.rcode >> 4) << 16))
  const rdata = at + optHeaderBytes
  const hasData = tx.hasOptions || tx.extendedError >= 0
  const end = hasData ? writeOptions(tx, rdata, replyMax) : rdata
  // RFC 3225 section 3: DO is copied; RFC 6891 section 6.1.4: the other flags are zero.
  replyView.setInt32(at + 7, (((tx.isDo ? ednsDoBit : 0) | compact) << 16) | (end - rdata))
  tx.at = end
  tx.additionalCount++
}

function writeOptions(tx: Transaction, from: number, replyMax: number): number {
  let at = from
  if (tx.wantsNsid && tx.nsid.length > 0) at = writeNsid(tx, at)
  if (tx.ecsAddressBytes >= 0) at = writeClientSubnet(tx, at)
  if (tx.cookieKind >= CookieKind.ClientOnly) at = writeCookie(tx, at)
  if (tx.wantsKeepalive) at = writeKeepalive(tx, at)
  if (tx.zoneLabels >= 0) at = writeZoneVersion(tx, at)
  if (tx.extendedError >= 0) at = writeExtendedError(tx, at, replyMax)
  if (tx.wantsCommit) at = writeCommit(tx, at, replyMax)
  if (tx.wantsPadding) at = writePadding(tx, at, replyMax)
  return at
}

function writeOptionHeader(reply: Uint8Array, at: number, code: number, length: number): number {
  reply[at] = code >> 8
  reply[at + 1] = code & 0xff
  reply[at + 2] = length >> 8
  reply[at + 3] = length & 0xff
  return at + optionHeaderBytes
}

function writeNsid(tx: Transaction, at: number): number {
  const data = writeOptionHeader(tx.reply, at, EdnsOption.Nsid, tx.nsid.length)
  for (let i = 0; i < tx.nsid.length; i++) tx.reply[data + i] = tx.nsid[i]!
  return data + tx.nsid.length
}

/**
 * Writes the query's subnet option with our scope; 0 where the client did not matter. RFC 7871
 * section 7.2.1.
 */
function writeClientSubnet(tx: Transaction, from: number): number {
  const { replyView, ecsWords } = tx
  const data = from + optionHeaderBytes
  const end = data + subnetHeaderBytes + tx.ecsAddressBytes
  replyView.setInt32(from, (EdnsOption.ClientSubnet << 16) | (end - data))
  let before = (tx.ecsFamily << 16) | (tx.ecsSource << 8) | tx.ecsScope
  replyView.setInt32(data, before)
  let word = 0
  let at = data + subnetHeaderBytes
  for (; at + 4 <= end; at += 4) {
    before = ecsWords[word++]!
    replyView.setInt32(at, before)
  }
  // The last word is written so that it ends at `end`, and repeats the bits before it.
  const rest = (end - at) * 8
  if (rest > 0) replyView.setInt32(end - 4, (before << rest) | (ecsWords[word]! >>> (32 - rest)))
  return end
}

/** Writes client and server cookie. RFC 7873 section 5.2: the client knows the reply by its own. */
function writeCookie(tx: Transaction, at: number): number {
  const data = at + optionHeaderBytes
  tx.replyView.setInt32(at, (EdnsOption.Cookie << 16) | cookieBytes)
  tx.cookies.write(tx.replyView, data)
  return data + cookieBytes
}

function writeKeepalive(tx: Transaction, at: number): number {
  const data = writeOptionHeader(tx.reply, at, EdnsOption.TcpKeepalive, 2)
  tx.reply[data] = tx.tcpKeepalive >> 8
  tx.reply[data + 1] = tx.tcpKeepalive & 0xff
  return data + 2
}

/**
 * Writes the ZONEVERSION option: label count of the apex, type of version, version. RFC 9660
 * section 2.
 */
function writeZoneVersion(tx: Transaction, at: number): number {
  const data = writeOptionHeader(tx.reply, at, EdnsOption.ZoneVersion, zoneVersionBytes)
  tx.reply[data] = tx.zoneLabels
  tx.reply[data + 1] = soaSerialVersion
  tx.replyView.setInt32(data + 2, (tx.zoneSerialBase + tx.view!.state.soaSerial[0]!) | 0)
  return data + zoneVersionBytes
}

/** Writes the serving commit as the text of an extended error with code 0, "other" (RFC 8914). */
function writeCommit(tx: Transaction, at: number, replyMax: number): number {
  const commit = tx.view === undefined ? noOctets : tx.view.commit
  const length = 2 + commitPrefix.length + commit.length
  if (commit.length === 0 || at + optionHeaderBytes + length > replyMax) return at
  const data = writeOptionHeader(tx.reply, at, EdnsOption.ExtendedError, length)
  tx.reply[data] = 0
  tx.reply[data + 1] = ExtendedError.Other
  const text = data + 2
  for (let i = 0; i < commitPrefix.length; i++) tx.reply[text + i] = commitPrefix[i]!
  const from = text + commitPrefix.length
  for (let i = 0; i < commit.length; i++) tx.reply[from + i] = commit[i]!
  return data + length
}

/**
 * Writes the last option, which fills the message to a whole number of blocks. RFC 8467 section
 * 4.1.
 */
function writePadding(tx: Transaction, at: number, replyMax: number): number {
  const room = replyMax - at - optionHeaderBytes
  if (room < 0) return at
  const over = (at + optionHeaderBytes - tx.replyStart) % paddingBlockBytes
  const length = Math.min(over === 0 ? 0 : paddingBlockBytes - over, room)
  const data = writeOptionHeader(tx.reply, at, EdnsOption.Padding, length)
  for (let i = 0; i < length; i++) tx.reply[data + i] = 0
  return data + length
}

/** Writes the extended error if it fits: it is optional. RFC 8914 section 3. */
function writeExtendedError(tx: Transaction, at: number, replyMax: number): number {
  const text = extendedErrorTexts[tx.extendedErrorText]!
  const length = 2 + text.length
  if (at + optionHeaderBytes + length > replyMax) return at
  const data = writeOptionHeader(tx.reply, at, EdnsOption.ExtendedError, length)
  tx.reply[data] = tx.extendedError >> 8
  tx.reply[data + 1] = tx.extendedError & 0xff
  for (let i = 0; i < text.length; i++) tx.reply[data + 2 + i] = text[i]!
  return data + length
}

/** Sets the extended error of the reply; without EDNS it is not sent. */
export function explain(tx: Transaction, code: number, text: number): void {
  tx.extendedError = code
  tx.extendedErrorText = text
}
