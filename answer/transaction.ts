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
import { noSigner } from '#answer/signing/signer.ts'
import type { Signer } from '#answer/signing/signer.ts'

export const Transport = { Udp: 0, Tcp: 1 } as const
export type Transport = (typeof Transport)[keyof typeof Transport]

/** What carries the messages of a transport: nothing, TLS, or HTTP over TLS. */
export const Carrier = { Plain: 0, Tls: 1, Https: 2 } as const
export type Carrier = (typeof Carrier)[keyof typeof Carrier]

/** Where every qname ends in its memory, a whole number of words. */
export const qnameEnd = 256

/** A UDP reply with signatures that is larger comes by TCP, whatever the settings say. RFC 9715. */
const signedBytesMax = 1_232

/** In one reply: RFC 1034 section 5.2.2 leaves the rest to the resolver. */
export const aliasesMax = 8

/** Names in one rrset whose addresses are added: as many name servers as a zone may have. */
export const targetsMax = 32

/**
 * Labels of one reply that names behind them may end with: as many as 32 name servers of 32 domains
 * have. What comes later is not looked for, which bounds the time for a reply of 64 KiB.
 */
export const writtenLabelsMax = 128

/** What the operator's settings say about answers. */
export interface AnswerSettings {
  /** Octets; what a UDP answer may have when the client allows more. RFC 9715: 1232. */
  readonly udpPayloadSize: number
  /** Empty: NSID and CHAOS id.server are not answered. */
  readonly nsid: string
  /** Empty: CHAOS version.bind is refused. */
  readonly versionBind: string
  /** Answers the ZONEVERSION option with the SOA serial. RFC 9660. Left out: no. */
  readonly zoneVersion?: boolean
  /** Tells the commit: CHAOS commit.gslbd, and an extended error on request. Left out: no. */
  readonly tellsCommit?: boolean
  /** False: other nodes take updates, and a sender of one is told so. Left out: true. */
  readonly takesUpdates?: boolean
  /** Apex of the catalog zone, in wire form and lower case. Left out: there is none. */
  readonly catalog?: Uint8Array | undefined
  /** Secrets of DNS cookies; see cookies/secret-cells.ts. Left out: there are none. */
  readonly cookies?: SharedArrayBuffer | undefined
  /** Announced to TCP clients that ask. RFC 7828. */
  readonly tcpIdleTimeoutMs: number
}

const noOctets = new Uint8Array(0)

export class Transaction {
  /** What is answered from; undefined until the first bundle: every query is refused. */
  view: ServingView | undefined = undefined
  readonly chain: Chain
  readonly random: Random
  readonly counters: Counters
  readonly nsid: Uint8Array
  readonly versionBind: Uint8Array
  readonly hasZoneVersion: boolean
  readonly tellsCommit: boolean
  readonly takesUpdates: boolean
  /** Empty: there is none. */
  readonly catalog: Uint8Array
  readonly udpPayloadSize: number
  readonly cookies: CookieJar
  /** The same for clients with DO. */
  signedPayloadSize: number
  /** Units of 100 ms. */
  tcpKeepalive: number
  transport: Transport = Transport.Udp
  carrier: Carrier = Carrier.Plain
  /** How many queries of this batch may still be answered; `noLimit` of query-bucket.ts. */
  tokens = -1
  /**
   * True: what `isForHandler` says is left to the message handler of this thread or another. Else
   * it is answered like any other message: without signature, transfer or update.
   */
  handsOver = false
  /** Octets of a reply that are kept back for a signature of the message. */
  reservedBytes = 0
  /** Says which answers over UDP go out; null: all do. */
  limiter: RateLimiter | null = null
  /** Signs what is answered to clients with DO; each view has its own. */
  signer: Signer = noSigner
  /** The types of a name that is denied. */
  readonly nameTypes = new NameTypes()

  /** The query's memory and the reply's, which may be the same. */
  query: Uint8Array = noOctets
  queryView = createView(noOctets)
  reply: Uint8Array = noOctets
  replyView = createView(noOctets)

  // The question. Offsets are inside `qname`; a name stands at its end.
  readonly qname = new Uint8Array(qnameEnd)
  /** The same octets, four at a time; those before the name are 0 from the last whole word on. */
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
  // What `findDynamic` has found.
  dynamicLabel = 0
  dynamicNode = -1
  qtype = 0
  qclass = 0
  readonly routing: RoutingQuery = { serviceIndex: 0, poolIndex: 0, family: Family.V4 }
  /** Chosen for it, or -1; for the query log. A policy leaves its members in `chain`. */
  member = -1

  // Where the query came from: 4 or 16 octets of an address.
  source: Uint8Array = new Uint8Array(16)
  sourceAt = 0
  sourceBytes = 4

  /** The message is signed, or asks for a transfer. */
  isForHandler = false

  // What the OPT record of the query says. RFC 6891.
  hasOpt = false
  ednsVersion = 0
  isDo = false
  /** The client knows compact denial: NXDOMAIN is no contradiction to it. RFC 9824 section 5.1. */
  isCompactOk = false
  clientPayloadSize = 0
  /** False: the fields from here to `ecsWords` say nothing. */
  hasOptions = false
  wantsNsid = false
  wantsKeepalive = false
  wantsZoneVersion = false
  wantsCommit = false
  /** The reply is to have a length that says little: it travels encrypted, and so did a padding. */
  wantsPadding = false
  cookieKind: CookieKind = CookieKind.None
  /** The client has shown that it gets what is sent to its address. RFC 7873. */
  hasValidCookie = false
  /** Labels of the apex of the zone that has the question; -1: none of ours, or nobody asks. */
  zoneLabels = -1
  /** What its SOA serial begins with. */
  zoneSerialBase = 0
  /** Octets of the address that were sent; -1: no client subnet. RFC 7871. */
  ecsAddressBytes = -1
  ecsFamily = 0
  ecsSource = 0
  /** One word or four, the most significant first; 0 beyond what was sent. */
  readonly ecsWords = new Int32Array(4)
  /** Leading bits of the client's address that the answer depends on. */
  ecsScope = 0

  // The name that is being answered for: that of the question, then the target of each alias.
  /** Where it stands in the reply, from the start of the message. */
  owner: number = HeaderOffset.End
  /** Aliases that were followed. */
  aliasCount = 0
  /** `qnameHash` of each name that was left. */
  readonly leftHash = new Int32Array(aliasesMax)
  /** End of the reply, and its answers, after the first alias. */
  firstAliasEnd = 0
  firstAliasAnswers = 0
  /** The response rule that decides; -1: none. */
  rule = -1
  /** A rule made an alias of a name in no zone of ours: AA is for the first name. */
  isForeign = false
  /** The answer, or an alias in it, was made from a wildcard. RFC 4035 section 3.1.3.3. */
  isFromWildcard = false
  isAnyName = false
  /** It does not exist, whatever the rcode says of it. RFC 9824. */
  isUnknownName = false
  /** Something would have to be signed, and its key is not here. */
  isUnsignable = false

  /** Names without end have one answer: `group` is the same for all of them. */
  isGrouped = false
  group = 0

  /** Nodes of the DNAME records that are in the reply. */
  dnameCount = 0
  readonly dnameNode = new Int32Array(aliasesMax + 1)

  // The reply being written. `at` is an offset in its memory.
  replyStart = 0
  at = 0
  /** Where records must end: room for the OPT record is already kept back. */
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
  /** Targets of the rrset written last: their numbers in rdata, and where their names stand. */
  targetCount = 0
  readonly targetNumber = new Uint32Array(targetsMax)
  readonly targetOffset = new Uint16Array(targetsMax)
  // Labels that stand in the reply, for `writeName`. -1: none are noted yet.
  writtenCount = -1
  /** Where a label stands, and the name behind it; both from the start of the message. */
  readonly writtenOffset = new Uint16Array(writtenLabelsMax)
  readonly writtenAbove = new Uint16Array(writtenLabelsMax)
  /** Where the labels of the name that is being written begin. */
  readonly nameLabels = new Uint8Array(nameLimits.labelsMax + 1)
  /** A name before it is written, or after it was read. */
  readonly nameOctets = new Uint8Array(nameLimits.bytesMax + 1)
  /** Where the name written last stands in the message. */
  nameOffset = 0

  /** @param nowMs see Chain */
  constructor(settings: AnswerSettings, seed: number, counters: Counters, nowMs?: () => number) {
    this.random = new Random(seed)
    this.chain = new Chain(this.random, nowMs)
    this.chain.qname = this.qname
    this.counters = counters
    this.nsid = Buffer.from(settings.nsid)
    this.versionBind = Buffer.from(settings.versionBind)
    this.hasZoneVersion = settings.zoneVersion === true
    this.tellsCommit = settings.tellsCommit === true
    this.takesUpdates = settings.takesUpdates !== false
    this.cookies = new CookieJar(settings.cookies)
    this.catalog = Uint8Array.from(settings.catalog ?? [])
    this.udpPayloadSize = settings.udpPayloadSize
    this.signedPayloadSize = settings.udpPayloadSize
    this.tcpKeepalive = Math.min(65_535, Math.round(settings.tcpIdleTimeoutMs / 100))
  }

  /** Answers from another view. Called between two batches, never inside a query. */
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

  /** Words are read and written through views; a socket keeps its memory, and so its views. */
  bind(query: Uint8Array, reply: Uint8Array): void {
    this.query = query
    this.queryView = createView(query)
    this.reply = reply
    this.replyView = query === reply ? this.queryView : createView(reply)
  }

  /** Clears all that a query left behind, so that nothing of it can reach the next one's answer. */
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
