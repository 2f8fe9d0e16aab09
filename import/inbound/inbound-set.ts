// Holds the transferred records of one name and type, within the limits of a record set here.
import { bundleLimits } from '#bundle/format/limits.ts'
import { canonicalRdata, rdataTypeOf } from '#dns/rdata/rdata-types.ts'
import type { ZoneRecord } from '#dns/zone-file/zone-record.ts'
import { assert } from '#lib/assert.ts'
import { valuesPerRrsetMax } from '#schemas/objects/records.ts'

/** Octets of a record in an answer beside its data, its name compressed. RFC 1035 section 3.2.1. */
const recordBytes = 12

export class InboundSet {
  /** As files have it. */
  readonly name: string
  /** Wire form, lower case. */
  readonly owner: Uint8Array
  readonly type: number
  /** The lowest of its records. RFC 2181 section 5.2. */
  ttl: number
  readonly #rdata: Uint8Array[] = []
  /** Positions by canonical octets: made with the second record, as most sets have one. */
  #positions: Map<string, number> | undefined
  #bytes = 0

  constructor(name: string, { owner, type, ttl }: Omit<ZoneRecord, 'rdata'>) {
    this.name = name
    this.owner = owner
    this.type = type
    this.ttl = ttl
  }

  /** In no order. */
  get rdata(): readonly Uint8Array[] {
    return this.#rdata
  }

  /** Data that is there is not added again. @returns undefined; or why the set cannot be had */
  add(rdata: Uint8Array): string | undefined {
    const [first] = this.#rdata
    if (first !== undefined) this.#positions ??= new Map([[this.#keyOf(first), 0]])
    if (this.#positions !== undefined) {
      const key = this.#keyOf(rdata)
      if (this.#positions.has(key)) return undefined
      this.#positions.set(key, this.#rdata.length)
    }
    this.#rdata.push(rdata)
    this.#bytes += rdata.length + recordBytes
    if (this.#rdata.length > valuesPerRrsetMax) {
      return `a record set has at most ${valuesPerRrsetMax} records here; this one has more`
    }
    if (this.#bytes <= bundleLimits.rrsetBytesMax) return undefined
    return `a record set has at most ${bundleLimits.rrsetBytesMax} octets here; this one has more`
  }

  /** @returns false: it is not there */
  remove(rdata: Uint8Array): boolean {
    const key = this.#keyOf(rdata)
    const last = this.#rdata.at(-1)
    if (last === undefined) return false
    this.#positions ??= new Map(this.#rdata.map((one, i) => [this.#keyOf(one), i]))
    const at = this.#positions.get(key)
    if (at === undefined) return false
    assert(at < this.#rdata.length, 'a record of a set is where its octets say')
    this.#bytes -= this.#rdata[at]!.length + recordBytes
    this.#positions.set(this.#keyOf(last), at)
    this.#positions.delete(key)
    this.#rdata[at] = last
    this.#rdata.pop()
    return true
  }

  #keyOf(rdata: Uint8Array): string {
    const octets = canonicalRdata(rdataTypeOf(this.type), rdata)
    return Buffer.from(octets.buffer, octets.byteOffset, octets.length).toString('latin1')
  }
}
