// Decides who may transfer a zone, and limits how many do at once. RFC 5936, RFC 1995.
import { isSigned } from '#bundle/format/bundle.ts'
import { absentZones } from '#bundle/load/absent-zones.ts'
import { isMappedIpv4, subscriberOf } from '#dns/address.ts'
import { HeaderOffset, QClass } from '#dns/header.ts'
import { foldName, formatName, isAtOrBelow, sameOctets } from '#dns/name.ts'
import { readMessageName, skipMessageName } from '#dns/message-name.ts'
import { isInNetwork } from '#dns/network.ts'
import type { Network } from '#dns/network.ts'
import { Rcode } from '#dns/rcode.ts'
import { RrType } from '#dns/rrtype.ts'
import type { Log } from '#lib/log.ts'
import { catalogRecords, catalogSoa } from './catalog-zone.ts'
import { bytesOfChanges, changedRecords, condensedBytes } from './changed-records.ts'
import { GivenVersions, secondaryOf } from './given-versions.ts'
import type { GivenVersion } from './given-versions.ts'
import { transferLimits } from './limits.ts'
import type { HistoryLimits, TransferLimits } from './limits.ts'
import { catalogKey } from './transfer-history.ts'
import type { TransferHistory } from './transfer-history.ts'
import { digestedRecords, zoneDigest } from './zone-digests.ts'
import { serialOf, soaRecord, zoneKeyOf, zoneRecords } from './zone-records.ts'
import type { ZoneRecord, ZoneStep } from './zone-records.ts'
import type { ZoneSource } from './zone-source.ts'
import { TransferMessages } from './transfer-messages.ts'
import type { MessageParts } from './transfer-messages.ts'

export interface TransferSettings {
  readonly enabled: boolean
  readonly requireTsig: boolean
  /** Empty: any client. */
  readonly allow: readonly Network[]
  /** Apex of the catalog zone, in wire form and lower case. Left out: there is none. */
  readonly catalog?: Uint8Array | undefined
  /** Whether zones are sent with a digest. RFC 8976. */
  readonly zonemd?: boolean
  /** Left out: those of limits.ts. */
  readonly history?: HistoryLimits
}

interface TransferKey {
  readonly id: string
  /** Its names, in wire form; null: all. */
  readonly scope: Uint8Array | null
  /** Whether it is for transfers at all. */
  readonly mayTransfer: boolean
}

interface TransferRequest {
  /** Without a TSIG record. */
  readonly message: Uint8Array
  /** AXFR, IXFR, or SOA of the catalog zone. */
  readonly qtype: number
  readonly isTcp: boolean
  /** Offset behind the question. */
  readonly questionEnd: number
  /** The OPT record of the reply; empty: none. */
  readonly opt: Uint8Array
  readonly qclass: number
  /** Row in `zoneNode`; -1: the question names no apex of ours. */
  readonly zone: number
  /** 4 or 16 octets. */
  readonly client: Uint8Array
  /** null: it is not signed. */
  readonly key: TransferKey | null
}

interface FoundZone {
  /** For TransferHistory. */
  readonly key: string
  readonly soa: ZoneRecord
  readonly records: () => Iterator<ZoneStep>
  /** Makes its ZONEMD record; undefined: it is sent without. */
  readonly digest?: () => Generator<null, ZoneRecord | undefined>
  /** What was made of it; undefined: nothing was. */
  readonly madeDigest: () => ZoneRecord | undefined
}

/** Messages that follow each other. */
export interface RunningTransfer {
  /**
   * @returns octets of the next message; 0: there are no more; -1: it took too long, or what it
   *   read is not kept any more; or `notYet`
   */
  readonly write: (into: Uint8Array, room: number) => number
  /** To be called once, when nothing more is sent. */
  readonly end: () => void
}

export interface TransferCounts {
  running: number
  /** Transfers of whole zones. */
  started: number
  /** Transfers of changes alone. */
  incremental: number
  /** IXFR that got a whole zone: the client has its version from elsewhere, or from before. */
  unknown: number
  /** The same, of a version that is too old. */
  old: number
  /** The same, where too much has changed. */
  large: number
  refused: number
  /** IXFR that was answered with the SOA alone. */
  current: number
  /** Cut off: too slow, or too much has changed meanwhile. */
  ended: number
}

interface TransferParts {
  readonly limits?: TransferLimits
  /** Left out: every transfer is a whole zone. */
  readonly history?: TransferHistory
  readonly log?: Pick<Log, 'debug'>
}

/** What a client that asks by IXFR gets. */
interface Changes {
  readonly from: GivenVersion
  /** See `condensedBytesMax`. */
  readonly condensed: number
  readonly records: Iterator<ZoneStep>
}

export class Transfers {
  readonly #settings: TransferSettings
  readonly #limits: TransferLimits
  readonly #nowMs: () => number
  readonly #history: TransferHistory | undefined
  readonly #log: Pick<Log, 'debug'> | undefined
  readonly #given = new GivenVersions()
  readonly #byClient = new Map<string, number>()
  /** Octets of the changes of transfers that run; see `condensedAtOnceBytesMax`. */
  #condensed = 0
  readonly counts: TransferCounts = {
    ...{ running: 0, started: 0, incremental: 0, refused: 0, current: 0, ended: 0 },
    ...{ unknown: 0, old: 0, large: 0 },
  }

  /** @param nowMs never goes back */
  constructor(settings: TransferSettings, nowMs: () => number, parts: TransferParts = {}) {
    this.#settings = settings
    this.#limits = parts.limits ?? transferLimits
    this.#history = parts.history
    this.#log = parts.log
    this.#nowMs = nowMs
  }

  /** @returns an rcode that says why not, or what is sent */
  start(source: ZoneSource | undefined, request: TransferRequest): RunningTransfer | Rcode {
    const found = source === undefined ? undefined : this.#find(source, request)
    const refusal = this.#refusal(source, found, request)
    if (refusal !== Rcode.NoError || source === undefined || found === undefined) {
      this.counts.refused++
      return refusal
    }
    const { message, questionEnd, qtype, isTcp } = request
    if (qtype === RrType.SOA) return once(request, found.soa)
    if (qtype !== RrType.IXFR) return this.#run(source, found, request)
    const serial = ixfrSerial(message, questionEnd, found.soa.owner)
    if (serial === undefined) {
      this.counts.refused++
      return Rcode.FormErr
    }
    // RFC 1995 section 2 and 4: over UDP the client learns whether it has to come over TCP.
    if (!isTcp || isCurrent(serial, serialOf(found.soa.rdata))) {
      this.counts.current++
      return once(request, found.soa)
    }
    return this.#run(source, found, request, serial)
  }

  /** Whether the question names the catalog zone. */
  asksCatalog(message: Uint8Array, questionEnd: number): boolean {
    const { catalog } = this.#settings
    if (catalog === undefined) return false
    const name = foldName(message.subarray(HeaderOffset.End, questionEnd - 4))
    return sameOctets(name, catalog)
  }

  #find(source: ZoneSource, request: TransferRequest): FoundZone | undefined {
    const { zone, message, questionEnd } = request
    if (zone >= 0) {
      const soa = soaRecord(source, zone)
      const name = formatName(foldName(soa.owner))
      const isDigested = source.digestPolicy[name] ?? this.#settings.zonemd === true
      const recordsOf = isDigested ? digestedRecords : zoneRecords
      return {
        ...{ key: zoneKeyOf(soa.owner), soa, records: () => recordsOf(source, zone) },
        ...(isDigested && { digest: () => zoneDigest(source, zone) }),
        madeDigest: () => source.digests.get(zone),
      }
    }
    const { catalog } = this.#settings
    if (catalog === undefined || !this.asksCatalog(message, questionEnd)) return undefined
    return {
      ...{ key: catalogKey, soa: catalogSoa(source, catalog), madeDigest: () => undefined },
      records: () => catalogRecords(source, catalog),
    }
  }

  #refusal(
    source: ZoneSource | undefined,
    found: FoundZone | undefined,
    request: TransferRequest,
  ): Rcode {
    const { enabled, requireTsig, allow } = this.#settings
    const { client, key, qtype, isTcp, qclass } = request
    const plain = client.length === 16 && isMappedIpv4(client) ? client.subarray(12) : client
    const isAllowed = allow.length === 0 || allow.some((network) => isInNetwork(plain, network))
    // RFC 5936 section 4.2: AXFR is for TCP alone.
    const isRefused =
      !enabled || !isAllowed || (requireTsig && key === null) || (qtype === RrType.AXFR && !isTcp)
    if (isRefused || qclass !== QClass.In) return Rcode.Refused
    if (source === undefined) return Rcode.ServFail
    if (found === undefined) return Rcode.NotAuth
    // A secondary goes on with what it has, until it expires there, too.
    if (request.zone >= 0 && absentZones(source.bundle)?.[request.zone] === 1) return Rcode.ServFail
    // The records alone, without keys and signatures: a secondary would answer what is bogus.
    if (request.zone >= 0 && isSigned(source.bundle, request.zone)) return Rcode.Refused
    if (key === null) return Rcode.NoError
    if (!key.mayTransfer) return Rcode.Refused
    if (key.scope === null) return Rcode.NoError
    // A key for a part of the names is none for the others.
    return isAtOrBelow(found.soa.owner, key.scope) ? Rcode.NoError : Rcode.Refused
  }

  /** @param serial that the client has; undefined: it asks for the whole zone */
  #run(
    source: ZoneSource,
    found: FoundZone,
    request: TransferRequest,
    serial?: number,
  ): RunningTransfer | Rcode {
    const { runningMax, perClientMax, durationMaxMs } = this.#limits
    const client = subscriberOf(request.client)
    const own = this.#byClient.get(client) ?? 0
    if (this.counts.running >= runningMax || own >= perClientMax) {
      this.counts.refused++
      return Rcode.Refused
    }
    this.#byClient.set(client, own + 1)
    this.counts.running++
    source.hold()
    this.#history?.follow(found.key)
    const secondary = secondaryOf(request.client, request.key?.id)
    const changes =
      serial === undefined ? undefined : this.#changes(source, found, secondary, serial)
    if (changes === undefined) this.counts.started++
    else this.counts.incremental++
    this.#condensed += changes?.condensed ?? 0
    const records = changes?.records ?? found.records()
    const messages = new TransferMessages(messageParts(request, false), records)
    const untilMs = this.#nowMs() + durationMaxMs
    let bytes = 0
    return {
      write: (into, room) => {
        if (source.isOver || this.#nowMs() > untilMs) {
          this.counts.ended++
          return -1
        }
        const length = messages.write(into, room)
        bytes += Math.max(length, 0)
        if (length > 0 && messages.isDone) {
          const { content } = source
          const wholeBytes = changes?.from.wholeBytes ?? bytes
          const isDigested = found.digest !== undefined
          const digest = found.madeDigest()
          const version = { content, soa: found.soa, isDigested, digest, wholeBytes }
          this.#given.add(secondary, found.key, version)
        }
        return length
      },
      end: () => {
        source.release()
        this.counts.running--
        this.#condensed -= changes?.condensed ?? 0
        const left = (this.#byClient.get(client) ?? 1) - 1
        if (left > 0) this.#byClient.set(client, left)
        else this.#byClient.delete(client)
      },
    }
  }

  /** @param bytes of changes that one is to be made of */
  #hasRoom(bytes: number): boolean {
    const { condensedBytesMax, condensedAtOnceBytesMax } = this.#limits
    const atOnce = bytes === 0 ? 0 : this.#condensed + bytes
    return bytes <= condensedBytesMax && atOnce <= condensedAtOnceBytesMax
  }

  /** @returns undefined: the client gets the whole zone */
  #changes(
    source: ZoneSource,
    { key, soa, digest }: FoundZone,
    secondary: string,
    serial: number,
  ): Changes | undefined {
    const from = this.#given.find(secondary, key, serial)
    // With a digest as without one: records of ZONEMD that somebody wrote come and go with it.
    const isAlike = from !== undefined && from.isDigested === (digest !== undefined)
    const known = isAlike ? this.#history?.between(key, from.content, source.content) : undefined
    const changes = known ?? 'unknown'
    if (from !== undefined && typeof changes !== 'string') {
      const condensed = condensedBytes(changes)
      // RFC 1995 section 4: the whole zone where that is less.
      if (bytesOfChanges(changes) < from.wholeBytes && this.#hasRoom(condensed)) {
        return { from, condensed, records: changedRecords({ from, soa, changes, digest }) }
      }
    }
    const reason = typeof changes === 'string' ? changes : 'large'
    this.counts[reason]++
    const zone = formatName(soa.owner)
    this.#log?.debug?.({ zone, serial, reason }, 'a secondary that asks for changes gets all')
    return undefined
  }
}

/** One message of one record; over UDP it may be none, with TC. */
function once(request: TransferRequest, record: ZoneRecord): RunningTransfer {
  const messages = new TransferMessages(messageParts(request, !request.isTcp), [record].values())
  return { write: (into, room) => messages.write(into, room), end: () => undefined }
}

function messageParts(request: TransferRequest, mayTruncate: boolean): MessageParts {
  const { message, questionEnd, opt } = request
  return { request: message, questionEnd, opt, mayTruncate }
}

/**
 * RFC 1995 section 3: the SOA that the client has is in the authority section.
 *
 * @param apex in lower case
 */
function ixfrSerial(
  message: Uint8Array,
  questionEnd: number,
  apex: Uint8Array,
): number | undefined {
  const view = new DataView(message.buffer, message.byteOffset, message.length)
  const hasOne =
    view.getUint16(HeaderOffset.AnCount) === 0 && view.getUint16(HeaderOffset.NsCount) === 1
  const owner = hasOne ? readMessageName(message, questionEnd) : undefined
  const fixed = owner?.end ?? message.length
  if (owner === undefined || fixed + 10 > message.length) return undefined
  const isOfZone = view.getUint16(fixed + 2) === QClass.In && sameOctets(foldName(owner.wire), apex)
  const end = fixed + 10 + view.getUint16(fixed + 8)
  if (!isOfZone || view.getUint16(fixed) !== RrType.SOA || end > message.length) return undefined
  const mailbox = skipMessageName(message, fixed + 10)
  const serial = mailbox === -1 ? -1 : skipMessageName(message, mailbox)
  return serial === -1 || serial + 20 !== end ? undefined : view.getUint32(serial)
}

/** RFC 1982 section 3.2: the client has ours, or one that comes after it. */
function isCurrent(clientSerial: number, serial: number): boolean {
  return ((clientSerial - serial) | 0) >= 0
}
