// The state of the query that a thread is answering: one object per thread, reset whole, never
// grown.
import { HeaderOffset } from '#dns/header.ts'
import { nameLimits } from '#dns/name.ts'
import { Random } from '#lib/random.ts'
import { Chain } from '#routing/chain/chain.ts'
import { Family } from '#routing/state/query.ts'
import type { RoutingQuery } from '#routing/state/query.ts'
import type { Counters } from '#answer/counters/counters.ts'
import type { ServingView } from './serving-view.ts'
import { CookieJar, CookieKind } from '#answer/cookies/cookie-jar.ts'
import type { RateLimiter } from '#answer/rate-limit/limiter.ts'
import { NameTypes } from '#answer/signing/name-types.ts'
import { noSignal, noSigner } from '#answer/signing/signer.ts'
import type { Signer } from '#answer/signing/signer.ts'

export const Transport = { Udp: 0, Tcp: 1 } as const
export type Transport = (typeof Transport)[keyof typeof Transport]

/** What carries the messages: the bare transport, TLS, or HTTP over TLS. */
export const Carrier = { Plain: 0, Tls: 1, Https: 2 } as const
export type Carrier = (typeof Carrier)[keyof typeof Carrier]

/** End of every qname in its buffer, a multiple of the word size. */
export const qnameEnd = 256

/** Larger signed UDP replies are truncated, whatever the settings say. RFC 9715. */
const signedBytesMax = 1_232

/** Aliases followed in one reply: RFC 1034 section 5.2.2 leaves the rest to the resolver. */
export const aliasesMax = 8

/** Targets of one rrset whose addresses are added: as many as a zone may have name servers. */
export const targetsMax = 32

/**
 * Labels of a reply kept for compression: as many as 32 name servers of 32 domains have. Later
 * labels are not searched for, which bounds the time for a reply of 64 KiB.
 */
export const writtenLabelsMax = 128

/** The operator's settings for answers. */
export interface AnswerSettings {
  /** Largest UDP answer in octets, when the client allows more. RFC 9715: 1232. */
  readonly udpPayloadSize: number
  /** Empty: NSID and CHAOS id.server are off. */
  readonly nsid: string
  /** Empty: CHAOS version.bind is refused. */
  readonly versionBind: string
  /** Answers the ZONEVERSION option with the SOA serial. RFC 9660. Left out: no. */
  readonly zoneVersion?: boolean
  /** Reveals the commit: CHAOS commit.gslbd, and an extended error on request. Left out: no. */
  readonly tellsCommit?: boolean
  /** False: other nodes take updates, and clients are told so. Left out: true. */
  readonly takesUpdates?: boolean
  /** TKEY queries are left to the message handler. RFC 3645. Left out: no. */
  readonly agreesOnKeys?: boolean
  /** Apex of the catalog zone, in wire form and lower case. Left out: there is none. */
  readonly catalog?: Uint8Array | undefined
  /** Secrets of DNS cookies; see cookies/secret-cells.ts. Left out: cookies are off. */
  readonly cookies?: SharedArrayBuffer | undefined
  /** Idle timeout announced to TCP clients that ask for it. RFC 7828. */
  readonly tcpIdleTimeoutMs: number
}

const noOctets = new Uint8Array(0)

export class Transaction {
  /** The data to answer from; undefined before the first bundle: every query is refused. */
  view: ServingView | undefined = undefined
  readonly chain: Chain
  readonly random: Random
  readonly counters: Counters
  readonly nsid: Uint8Array
  readonly versionBind: Uint8Array
  readonly hasZoneVersion: boolean
  readonly tellsCommit: boolean
  readonly takesUpdates: boolean
  readonly agreesOnKeys: boolean
  /** Apex of the catalog zone; empty: none. */
  readonly catalog: Uint8Array
  readonly udpPayloadSize: number
  readonly cookies: CookieJar
  /** Largest UDP answer for clients with DO. */
  signedPayloadSize: number
  /** In units of 100 ms. */
  tcpKeepalive: number
  transport: Transport = Transport.Udp
  carrier: Carrier = Carrier.Plain
  /** Queries of this batch that may still be answered; `noLimit` of query-bucket.ts. */
  tokens = -1
  /**
   * True: messages with `isForHandler` are left to the message handler of this or another thread.
   * False: they are answered like others, without signature, transfer or update.
   */
  handsOver = false
  /** Octets of a reply reserved for a signature of the message. */
  reservedBytes = 0
  /** Decides which UDP answers are sent; null: all. */
  limiter: RateLimiter | null = null
  /** Signs answers to clients with DO; each view has its own. */
  signer: Signer = noSigner
  /** The types that exist at a denied name. */
  readonly nameTypes = new NameTypes()

  /** The buffers of query and reply, which may be the same. */
  query: Uint8Array = noOctets
  queryView = createView(noOctets)
  reply: Uint8Array = noOctets
  replyView = createView(noOctets)

  // The question. Offsets are inside `qname`; the name ends at its end.
  readonly qname = new Uint8Array(qnameEnd)
  /** The same octets in words; octets before the name are 0 down to the start of its first word. */
  readonly qnameWords = new Uint32Array(this.qname.buffer)
  qnameStart = 0
  qnameBytes = 0
  labelCount = 0
  /** Under `nameSeed`, the bundle's. */
  qnameHash = 0
  nameSeed = 0
  /** A row for each suffix of qname from label `firstSuffix` on, root last: see `hashSuffixes`. */
  readonly labelOffset = new Uint8Array(nameLimits.labelsMax + 1)
  readonly suffixHash = new Int32Array(nameLimits.labelsMax + 1)
  firstSuffix = 0
  // Results of `findDynamic`.
  dynamicLabel = 0
  dynamicNode = -1
  /** What `findSignal` has found. */
  signal = noSignal
  qtype = 0
  qclass = 0
  readonly routing: RoutingQuery = { serviceIndex: 0, poolIndex: 0, family: Family.V4 }
  /** The member chosen, or -1; for the query log. A policy leaves its members in `chain`. */
  member = -1

  // The client's address, 4 or 16 octets.
  source: Uint8Array = new Uint8Array(16)
  sourceAt = 0
  sourceBytes = 4

  /** The message is signed, or asks for a transfer. */
  isForHandler = false

  // Fields of the query's OPT record. RFC 6891.
  hasOpt = false
  ednsVersion = 0
  isDo = false
  /** The client knows compact denial and accepts NXDOMAIN. RFC 9824 section 5.1. */
  isCompactOk = false
  clientPayloadSize = 0
  /** False: the fields from here to `ecsWords` are unset. */
  hasOptions = false
  wantsNsid = false
  wantsKeepalive = false
  wantsZoneVersion = false
  wantsCommit = false
  /** The reply is padded: the query was padded and came encrypted. */
  wantsPadding = false
  cookieKind: CookieKind = CookieKind.None
  /** The client has proved that it receives at its address. RFC 7873. */
  hasValidCookie = false
  /** Labels of the apex of the question's zone; -1: not our zone, or not asked for. */
  zoneLabels = -1
  /** Base of the zone's SOA serial. */
  zoneSerialBase = 0
  /** Octets of the client subnet's address; -1: no option. RFC 7871. */
  ecsAddressBytes = -1
  ecsFamily = 0
  ecsSource = 0
  /** One word or four, the most significant first; 0 beyond the octets sent. */
  readonly ecsWords = new Int32Array(4)
  /** Leading bits of the client's address that the answer depends on. */
  ecsScope = 0

  // The name that is being answered for: qname, then the target of each alias.
  /** Its offset from the start of the message. */
  owner: number = HeaderOffset.End
  /** Aliases followed so far. */
  aliasCount = 0
  /** `qnameHash` of each name left for a target. */
  readonly leftHash = new Int32Array(aliasesMax)
  /** End of the reply, and its answer count, after the first alias. */
  firstAliasEnd = 0
  firstAliasAnswers = 0
  /** The response rule that decides; -1: none. */
  rule = -1
  /** A rule made an alias of a name in no zone of ours: AA is for the first name. */
  isForeign = false
  /** The answer, or an alias in it, was made from a wildcard. RFC 4035 section 3.1.3.3. */
  isFromWildcard = false
  isAnyName = false
  /** The name does not exist, even if the rcode is NOERROR. RFC 9824. */
  isUnknownName = false
  /** A record should be signed, but its key is not here. */
  isUnsignable = false
  /** What was asked is not here: see absent-zones.ts. */
  isAbsent = false

  /** Many names share this answer: `group` identifies it. */
  isGrouped = false
  group = 0

  /** Nodes of the DNAME records in the reply. */
  dnameCount = 0
  readonly dnameNode = new Int32Array(aliasesMax + 1)

  // The reply being written. `at` is an offset in its buffer.
  replyStart = 0
  at = 0
  /** Records must end here; the room for OPT is already reserved. */
  recordsEnd = 0
  rcode = 0
  isAuthoritative = false
  isTruncated = false
  answerCount = 0
  authorityCount = 0
  additionalCount = 0
  /** -1: none. RFC 8914. */
  extendedError = -1
  /** Index in `extendedErrorTexts` of edns.ts. */
  extendedErrorText = 0
  /** Targets of the rrset written last: their numbers in rdata, and the offsets of their names. */
  targetCount = 0
  readonly targetNumber = new Uint32Array(targetsMax)
  readonly targetOffset = new Uint16Array(targetsMax)
  // Labels in the reply, for `writeName`. -1: none are noted yet.
  writtenCount = -1
  /** Offset of a label, and of the name behind it; both from the start of the message. */
  readonly writtenOffset = new Uint16Array(writtenLabelsMax)
  readonly writtenAbove = new Uint16Array(writtenLabelsMax)
  /** Label offsets of the name being written. */
  readonly nameLabels = new Uint8Array(nameLimits.labelsMax + 1)
  /** A name about to be written, or just read. */
  readonly nameOctets = new Uint8Array(nameLimits.bytesMax + 1)
  /** Offset in the message of the name written last. */
  nameOffset = 0

  /** @param nowMs see Chain; given by threads that answer */
  constructor(settings: AnswerSettings, seed: number, counters: Counters, nowMs?: () => number) {
    this.random = new Random(seed)
    this.chain = new Chain(this.random, nowMs)
    if (nowMs !== undefined) this.chain.alike.createTables()
    this.chain.qname = this.qname
    this.counters = counters
    this.nsid = Buffer.from(settings.nsid)
    this.versionBind = Buffer.from(settings.versionBind)
    this.hasZoneVersion = settings.zoneVersion === true
    this.tellsCommit = settings.tellsCommit === true
    this.takesUpdates = settings.takesUpdates !== false
    this.agreesOnKeys = settings.agreesOnKeys === true
    this.cookies = new CookieJar(settings.cookies)
    this.catalog = Uint8Array.from(settings.catalog ?? [])
    this.udpPayloadSize = settings.udpPayloadSize
    this.signedPayloadSize = settings.udpPayloadSize
    this.tcpKeepalive = Math.min(65_535, Math.round(settings.tcpIdleTimeoutMs / 100))
  }

  /** Switches to another view. Called between batches, never inside a query. */
  adopt(view: ServingView): void {
    this.view = view
    this.signer = view.signer
    const { udpPayloadSize } = this
    this.signedPayloadSize = view.isSigning
      ? Math.min(udpPayloadSize, signedBytesMax)
      : udpPayloadSize
    this.nameSeed = view.bundle.nameSeed
    this.chain.adopt(view.bundle, view.state, view.networks)
    this.limiter?.adopt(view.rateLimitExempt)
  }

  get isOverTcp(): boolean {
    return this.transport === Transport.Tcp
  }

  /**
   * Sets the buffers. Words are accessed through views; a socket keeps its buffers, so the views
   * are reused.
   */
  bind(query: Uint8Array, reply: Uint8Array): void {
    this.query = query
    this.queryView = createView(query)
    this.reply = reply
    this.replyView = query === reply ? this.queryView : createView(reply)
  }

  /** Clears all state of a query, so that none of it can reach the next answer. */
  reset(): void {
    this.qnameStart = qnameEnd
    this.qnameBytes = 0
    this.qnameHash = 0
    this.labelCount = 0
    this.qtype = 0
    this.qclass = 0
    this.isForHandler = false
    this.hasOpt = false
    this.ednsVersion = 0
    this.isDo = false
    this.isCompactOk = false
    this.clientPayloadSize = 0
    this.hasOptions = false
    this.wantsNsid = false
    this.wantsKeepalive = false
    this.wantsZoneVersion = false
    this.wantsCommit = false
    this.wantsPadding = false
    this.cookieKind = CookieKind.None
    this.hasValidCookie = false
    this.signal = noSignal
    this.zoneLabels = -1
    this.ecsAddressBytes = -1
    this.ecsScope = 0
    this.owner = HeaderOffset.End
    this.aliasCount = 0
    this.rule = -1
    this.isForeign = false
    this.dnameCount = 0
    this.isFromWildcard = false
    this.isGrouped = false
    this.isAnyName = false
    this.isUnknownName = false
    this.isUnsignable = false
    this.isAbsent = false
    this.rcode = 0
    this.isAuthoritative = false
    this.isTruncated = false
    this.answerCount = 0
    this.authorityCount = 0
    this.additionalCount = 0
    this.writtenCount = -1
    this.extendedError = -1
    this.extendedErrorText = 0
  }
}

function createView({ buffer, byteOffset, byteLength }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, byteLength)
}
