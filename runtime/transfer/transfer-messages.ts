// Puts the records of a transfer into messages, as many as fit. RFC 5936 section 2.2.
import { assert } from '#lib/assert.ts'
import { Flag1, HeaderOffset, QClass } from '#dns/header.ts'
import type { ZoneRecord } from './zone-records.ts'

/** Where the question's name, the apex of the zone, stands in every message. */
const apexOffset = HeaderOffset.End
/** What a compression pointer can point to. RFC 1035 section 4.1.4. */
const pointerMax = 0x3fff
/** Type, class, TTL and the length of the data. */
const fixedBytes = 10
/** A message takes no more records once it has so many octets. */
const messageBytes = 16_384

export class TransferMessages {
  readonly #request: Uint8Array
  readonly #questionEnd: number
  readonly #apexBytes: number
  readonly #records: Iterator<ZoneRecord>
  #next: ZoneRecord | undefined

  /**
   * @param request its question names the zone
   * @param questionEnd offset behind the question
   */
  constructor(request: Uint8Array, questionEnd: number, records: Iterator<ZoneRecord>) {
    this.#request = Uint8Array.from(request.subarray(0, questionEnd))
    this.#questionEnd = questionEnd
    this.#apexBytes = questionEnd - apexOffset - 4
    this.#records = records
    this.#advance()
  }

  #advance(): void {
    const result = this.#records.next()
    this.#next = result.done === true ? undefined : result.value
  }

  /**
   * Writes the next message.
   *
   * @param room octets that it may have
   * @returns its octets; 0: there are no more
   */
  write(into: Uint8Array, room: number): number {
    if (this.#next === undefined) return 0
    const view = new DataView(into.buffer, into.byteOffset, into.length)
    const request = this.#request
    into.set(request)
    into[HeaderOffset.Flags1] = Flag1.Qr | Flag1.Aa | (request[HeaderOffset.Flags1]! & Flag1.Rd)
    into[HeaderOffset.Flags2] = 0
    let at = this.#questionEnd
    let count = 0
    let owner: Uint8Array | undefined
    let ownerOffset = pointerMax + 1
    for (; this.#next !== undefined && at < messageBytes; this.#advance()) {
      const record: ZoneRecord = this.#next
      const isSame = owner !== undefined && ownerOffset <= pointerMax && equals(owner, record.owner)
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
    assert(count > 0, 'a record fits into a message of its own')
    view.setUint16(HeaderOffset.QdCount, 1)
    view.setUint16(HeaderOffset.AnCount, count)
    view.setUint16(HeaderOffset.NsCount, 0)
    view.setUint16(HeaderOffset.ArCount, 0)
    return at
  }
}

function equals(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((octet, i) => octet === b[i])
}
