// Reads the messages of a zone transfer as they come: a whole zone (RFC 5936), its changes, or that
// there are none (RFC 1995). Pure: octets in, records out.
import { Flag1, Flag2, HeaderOffset, Opcode, QClass } from '#dns/header.ts'
import { readMessageName, skipMessageName } from '#dns/message-name.ts'
import { wholeRdata } from '#dns/message-rdata.ts'
import { foldName, formatName, isAtOrBelow, sameOctets } from '#dns/name.ts'
import { rcodeNames } from '#dns/rcode.ts'
import { metaTypeMax, metaTypeMin, RrType } from '#dns/rrtype.ts'
import { RecordList } from '#dns/zone-file/record-list.ts'
import type { ZoneRecord } from '#dns/zone-file/zone-record.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { inboundLimits } from './limits.ts'

/** Serial and timers of a zone. RFC 1035 section 3.3.13. */
export interface InboundSoa {
  readonly serial: number
  readonly refresh: number
  readonly retry: number
  readonly expire: number
}

export interface ZoneChange {
  readonly isAdded: boolean
  readonly record: ZoneRecord
}

export type Transferred =
  /** The server has nothing newer: its serial may also be an older one. */
  | { readonly is: 'current'; readonly soa: InboundSoa }
  /** Without the SOA record that ends it. */
  | { readonly is: 'whole'; readonly soa: InboundSoa; readonly records: RecordList }
  /** In their order, without SOA records. */
  | { readonly is: 'changes'; readonly soa: InboundSoa; readonly changes: readonly ZoneChange[] }

export interface TransferQuestion {
  readonly id: number
  /** Wire form, lower case. */
  readonly zone: Uint8Array
  /** SOA, AXFR or IXFR. */
  readonly qtype: number
  /** The serial whose changes are asked for; undefined: the whole zone. */
  readonly serial: number | undefined
}

type Limits = Readonly<Record<'recordsMax' | 'bytesMax' | 'changedRecordsMax', number>>

const Stage = { Begin: 0, Second: 1, Whole: 2, Deleting: 3, Adding: 4, Done: 5 } as const
type Stage = (typeof Stage)[keyof typeof Stage]

/** Type, class, TTL and the length of the data. */
const fixedBytes = 10

export class TransferReader {
  readonly #question: TransferQuestion
  readonly #limits: Limits
  #stage: Stage = Stage.Begin
  #soa: InboundSoa | undefined
  #records = new RecordList()
  readonly #changes: ZoneChange[] = []
  #isIncremental = false
  /** The serial that the changes read last lead to. */
  #reached = 0
  #bytes = 0
  #messages = 0

  constructor(question: TransferQuestion, limits: Limits = inboundLimits) {
    this.#question = question
    this.#limits = limits
  }

  /**
   * @param message whole; a signature has been checked elsewhere
   * @returns undefined: more messages follow. Errors: half a sentence on what the server did
   */
  take(message: Uint8Array): Result<Transferred | undefined, string> {
    this.#messages++
    this.#bytes += message.length
    if (this.#bytes > this.#limits.bytesMax) return err(tooMuch('octets', this.#limits.bytesMax))
    const begin = this.#readHead(message)
    if (!begin.ok) return begin
    const view = new DataView(message.buffer, message.byteOffset, message.length)
    const answers = view.getUint16(HeaderOffset.AnCount)
    let at = begin.value
    for (let i = 0; i < answers; i++) {
      const owner = readMessageName(message, at)
      if (owner === undefined || owner.end + fixedBytes > message.length) return err(cutOff)
      const data = owner.end + fixedBytes
      const end = data + view.getUint16(owner.end + 8)
      if (end > message.length) return err(cutOff)
      const type = view.getUint16(owner.end)
      const rdata = wholeRdata(message, type, data, end)
      if (rdata === undefined) return err(cutOff)
      if (view.getUint16(owner.end + 2) !== QClass.In) return err('sends records of another class')
      const ttl = Math.min(view.getUint32(owner.end + 4), ttlMax)
      const taken = this.#record({ owner: foldName(owner.wire), ttl, type, rdata })
      if (!taken.ok) return taken
      at = end
    }
    if (answers === 0) return err('answers without a record')
    return this.#outcome()
  }

  #readHead(message: Uint8Array): Result<number, string> {
    if (message.length < HeaderOffset.End) return err(cutOff)
    const view = new DataView(message.buffer, message.byteOffset, message.length)
    const flags = message[HeaderOffset.Flags1]!
    const isReply = (flags & Flag1.Qr) !== 0 && (flags & Flag1.OpcodeMask) >> 3 === Opcode.Query
    if (!isReply || view.getUint16(HeaderOffset.Id) !== this.#question.id) {
      return err('sends a message that is no answer to the question')
    }
    const rcode = message[HeaderOffset.Flags2]! & Flag2.RcodeMask
    if (rcode !== 0) return err(`answers ${rcodeNames[rcode] ?? `rcode ${rcode}`}`)
    if ((flags & Flag1.Tc) !== 0) return err('truncates its answer')
    // RFC 1034 section 4.3.5: a resolver, or a server that forwards, is no contact with the zone.
    const hasAuthority = this.#question.qtype !== RrType.SOA || (flags & Flag1.Aa) !== 0
    if (!hasAuthority) return err('answers without authority (AA): it does not hold the zone')
    const questions = view.getUint16(HeaderOffset.QdCount)
    if (questions === 0) return ok(HeaderOffset.End)
    const name = readMessageName(message, HeaderOffset.End)
    if (questions > 1 || name === undefined || name.end + 4 > message.length) return err(cutOff)
    const isAsked =
      sameOctets(foldName(name.wire), this.#question.zone) &&
      view.getUint16(name.end) === this.#question.qtype
    if (!isAsked) return err('answers another question')
    return ok(name.end + 4)
  }

  #record(record: ZoneRecord): Result<null, string> {
    const { zone } = this.#question
    const { owner, type } = record
    if (!isAtOrBelow(owner, zone)) return err(`sends ${formatName(owner)}, which is outside`)
    if (type === RrType.OPT || (type >= metaTypeMin && type <= metaTypeMax)) {
      return err(`sends a record of type ${type}, which no zone has`)
    }
    if (this.#stage === Stage.Done) return err('sends records after the end of the zone')
    if (type === RrType.SOA) {
      if (!sameOctets(owner, zone)) return err(`sends a SOA record of ${formatName(owner)}`)
      const soa = soaIn(record.rdata)
      return soa === undefined ? err('sends a SOA record that cannot be read') : this.#take(soa)
    }
    if (this.#stage === Stage.Begin) return err('does not begin with the SOA record')
    if (this.#stage === Stage.Second) this.#stage = Stage.Whole
    if (this.#stage === Stage.Whole) return this.#add(record)
    const { changedRecordsMax } = this.#limits
    if (this.#changes.length >= changedRecordsMax) {
      return err(tooMuch('changed records', changedRecordsMax))
    }
    this.#changes.push({ isAdded: this.#stage === Stage.Adding, record })
    return ok(null)
  }

  #add(record: ZoneRecord): Result<null, string> {
    const { recordsMax } = this.#limits
    if (this.#records.length >= recordsMax) return err(tooMuch('records', recordsMax))
    this.#records.add(record, { text: 0, position: 1 })
    return ok(null)
  }

  /** A SOA record begins or ends a zone, and each list of an incremental transfer. */
  #take(soa: InboundSoa): Result<null, string> {
    if (this.#soa === undefined) {
      this.#soa = soa
      this.#stage = Stage.Second
      return ok(null)
    }
    const isLast = soa.serial === this.#soa.serial
    const { serial } = this.#question
    if (this.#stage === Stage.Second && serial !== undefined && soa.serial === serial && !isLast) {
      this.#isIncremental = true
      this.#stage = Stage.Deleting
      return ok(null)
    }
    if (this.#stage === Stage.Second || this.#stage === Stage.Whole) {
      if (!isLast) return err('changed the zone while it sent it')
      this.#stage = Stage.Done
      return ok(null)
    }
    if (this.#stage === Stage.Deleting) {
      this.#reached = soa.serial
      this.#stage = Stage.Adding
      return ok(null)
    }
    // RFC 1995 section 4: the next change begins where the one before has ended.
    if (soa.serial !== this.#reached) return err('sends changes with a gap between them')
    this.#stage = isLast ? Stage.Done : Stage.Deleting
    return ok(null)
  }

  #outcome(): Result<Transferred | undefined, string> {
    const soa = this.#soa
    if (soa === undefined) return err('answers without a SOA record')
    const { qtype, serial } = this.#question
    if (qtype === RrType.SOA) return ok({ is: 'current', soa })
    if (this.#stage === Stage.Done) {
      return this.#isIncremental
        ? ok({ is: 'changes', soa, changes: this.#changes })
        : ok({ is: 'whole', soa, records: this.#records })
    }
    // RFC 1995 section 2: a lone SOA record that is not newer says that nothing has changed.
    const isAlone = this.#messages === 1 && this.#stage === Stage.Second
    if (isAlone && serial !== undefined && !isNewer(soa.serial, serial)) {
      return ok({ is: 'current', soa })
    }
    return ok(undefined)
  }
}

/** Whether a serial comes after another one. RFC 1982 section 3.2. */
export function isNewer(serial: number, than: number): boolean {
  const ahead = (serial - than) >>> 0
  return ahead !== 0 && ahead < 0x8000_0000
}

const ttlMax = 0x7fff_ffff
const cutOff = 'sends a message that is cut off or malformed'
const tooMuch = (what: string, most: number): string => `sends more than ${most} ${what}`

const soaNumbersBytes = 20

function soaIn(rdata: Uint8Array): InboundSoa | undefined {
  const mname = skipMessageName(rdata, 0)
  const numbers = mname < 0 ? -1 : skipMessageName(rdata, mname)
  if (numbers < 0 || rdata.length - numbers !== soaNumbersBytes) return undefined
  const view = new DataView(rdata.buffer, rdata.byteOffset + numbers, soaNumbersBytes)
  const [serial, refresh, retry, expire] = [0, 4, 8, 12].map((at) => view.getUint32(at))
  return { serial: serial!, refresh: refresh!, retry: retry!, expire: expire! }
}
