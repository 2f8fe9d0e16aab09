// Puts the records of a transfer into messages, as many as fit. RFC 5936 section 2.2.
import { assert } from '#lib/assert.ts'
import { Flag1, HeaderOffset, QClass } from '#dns/header.ts'
import { sameOctets } from '#dns/name.ts'
import type { ZoneRecord, ZoneStep } from './zone-records.ts'

/** Where the question's name, the apex of the zone, stands in every message. */
const apexOffset = HeaderOffset.End
/** What a compression pointer can point to. RFC 1035 section 4.1.4. */
const pointerMax = 0x3fff
/** Type, class, TTL and the length of the data. */
const fixedBytes = 10
/** A message takes no more records once it has so many octets. */
const messageBytes = 16_384

/** Nothing to send yet: to be called again when other work had its turn. */
export const notYet = -2

export interface MessageParts {
  /** Its question names the zone. */
  readonly request: Uint8Array
  /** Offset behind the question. */
  readonly questionEnd: number
  /** The OPT record of each message; empty: none. RFC 6891 section 6.1.1. */
  readonly opt: Uint8Array
  /** Whether a record that does not fit is left out, with TC. */
  readonly mayTruncate: boolean
}

export class TransferMessages {
  readonly #request: Uint8Array
  readonly #questionEnd: number
  readonly #apexBytes: number
  readonly #opt: Uint8Array
  readonly #mayTruncate: boolean
  readonly #records: Iterator<ZoneStep>
  /** null: nothing to show yet; undefined: all is shown. */
  #next: ZoneStep | undefined

  constructor(parts: MessageParts, records: Iterator<ZoneStep>) {
    const { request, questionEnd, opt, mayTruncate } = parts
    this.#request = Uint8Array.from(request.subarray(0, questionEnd))
    this.#questionEnd = questionEnd
    this.#apexBytes = questionEnd - apexOffset - 4
    this.#opt = opt
    this.#mayTruncate = mayTruncate
    this.#records = records
    this.#advance()
  }

  /** All records are written. */
  get isDone(): boolean {
    return this.#next === undefined
  }

  #advance(): void {
    const result = this.#records.next()
    this.#next = result.done === true ? undefined : result.value
  }

  /**
   * Writes the next message.
   *
   * @param room octets that it may have
   * @returns its octets; 0: there are no more; or `notYet`
   */
  write(into: Uint8Array, room: number): number {
    if (this.#next === null) this.#advance()
    if (this.#next === undefined) return 0
    if (this.#next === null) return notYet
    into.set(this.#request)
    const rd = this.#request[HeaderOffset.Flags1]! & Flag1.Rd
    into[HeaderOffset.Flags1] = Flag1.Qr | Flag1.Aa | rd
    into[HeaderOffset.Flags2] = 0
    const view = new DataView(into.buffer, into.byteOffset, into.length)
    const { end, count } = this.#writeRecords(into, view, room - this.#opt.length)
    assert(count > 0 || this.#mayTruncate, 'a record fits into a message of its own')
    if (count === 0) {
      into[HeaderOffset.Flags1]! |= Flag1.Tc
      this.#advance()
    }
    into.set(this.#opt, end)
    view.setUint16(HeaderOffset.QdCount, 1)
    view.setUint16(HeaderOffset.AnCount, count)
    view.setUint16(HeaderOffset.NsCount, 0)
    view.setUint16(HeaderOffset.ArCount, this.#opt.length > 0 ? 1 : 0)
    return end + this.#opt.length
  }

  #writeRecords(into: Uint8Array, view: DataView, room: number): { end: number; count: number } {
    let at = this.#questionEnd
    let count = 0
    let owner: Uint8Array | undefined
    let ownerOffset = pointerMax + 1
    for (; isRecord(this.#next) && at < messageBytes; this.#advance()) {
      const record: ZoneRecord = this.#next
      const isSame =
        owner !== undefined && ownerOffset <= pointerMax && sameOctets(owner, record.owner)
      const prefix = isSame ? 0 : record.owner.length - this.#apexBytes
      if (at + prefix + 2 + fixedBytes + record.rdata.length > room) break
      if (!isSame) {
        ownerOffset = at
        owner = record.owner
      }
      into.set(record.owner.subarray(0, prefix), at)
      at += prefix
      view.setUint16(at, 0xc000 | (isSame ? ownerOffset : apexOffset))
      view.setUint16(at + 2, record.type)
      view.setUint16(at + 4, QClass.In)
      view.setUint32(at + 6, record.ttlSeconds)
      view.setUint16(at + 10, record.rdata.length)
      at += 2 + fixedBytes
      into.set(record.rdata, at)
      at += record.rdata.length
      count++
    }
    return { end: at, count }
  }
}

const isRecord = (step: ZoneStep | undefined): step is ZoneRecord =>
  step !== undefined && step !== null
