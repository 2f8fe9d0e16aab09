// Keeps the records of a zone in columns: a million take 70 MB, as objects several hundred.
import type { ZoneRecord } from './zone-record.ts'

/** The cells of a row: offsets of owner and rdata in the octets, then the rest of the record. */
const cell = { owner: 0, rdata: 1, rdataBytes: 2, type: 3, ttl: 4, text: 5, position: 6 } as const
const cells = Object.keys(cell).length

/** Rows and octets lie in chunks, so growing copies nothing. */
const rowsOfChunk = 16_384
/** More than any name or rdata has: neither is ever split between chunks. */
const bytesOfChunk = 2 ** 20

/** The place in the source text where a record was written. */
interface RecordOrigin {
  /** Number of the text, in order of opening. */
  readonly text: number
  /** Position in that text, from 1. */
  readonly position: number
}

/** Append-only; each read of a record builds a new object. */
export class RecordList implements Iterable<ZoneRecord> {
  readonly #rows: Uint32Array[] = []
  readonly #octets: Uint8Array[] = []
  #octetsUsed = 0
  #count = 0
  #lastOwner: Uint8Array | undefined
  #lastOwnerAt = 0

  get length(): number {
    return this.#count
  }

  /** Octets that the names and rdata of all records take. */
  get bytes(): number {
    return this.#octetsUsed
  }

  /** Consecutive records that pass the same `owner` array share its octets. */
  add({ owner, ttl, type, rdata }: ZoneRecord, { text, position }: RecordOrigin): void {
    if (owner !== this.#lastOwner) {
      this.#lastOwnerAt = this.#put(owner)
      this.#lastOwner = owner
    }
    const start = (this.#count % rowsOfChunk) * cells
    if (start === 0) this.#rows.push(new Uint32Array(rowsOfChunk * cells))
    const rows = this.#rows.at(-1)!
    rows[start + cell.owner] = this.#lastOwnerAt
    rows[start + cell.rdata] = this.#put(rdata)
    rows[start + cell.rdataBytes] = rdata.length
    rows[start + cell.type] = type
    rows[start + cell.ttl] = ttl
    rows[start + cell.text] = text
    rows[start + cell.position] = position
    this.#count++
  }

  at(index: number): ZoneRecord {
    const [ttl, type] = [this.ttlOf(index), this.typeOf(index)]
    return { owner: this.ownerOf(index), ttl, type, rdata: this.rdataOf(index) }
  }

  ownerOf(index: number): Uint8Array {
    return this.#nameAt(this.ownerAt(index))
  }

  /** Offset of the owner; consecutive records that share an owner have the same offset. */
  ownerAt(index: number): number {
    return this.#cell(index, cell.owner)
  }

  ttlOf(index: number): number {
    return this.#cell(index, cell.ttl)
  }

  typeOf(index: number): number {
    return this.#cell(index, cell.type)
  }

  rdataOf(index: number): Uint8Array {
    return this.#octetsAt(this.#cell(index, cell.rdata), this.rdataBytesOf(index))
  }

  rdataBytesOf(index: number): number {
    return this.#cell(index, cell.rdataBytes)
  }

  originOf(index: number): RecordOrigin {
    return { text: this.#cell(index, cell.text), position: this.#cell(index, cell.position) }
  }

  #cell(index: number, column: number): number {
    return this.#rows[Math.floor(index / rowsOfChunk)]![(index % rowsOfChunk) * cells + column]!
  }

  *[Symbol.iterator](): Generator<ZoneRecord> {
    for (let index = 0; index < this.#count; index++) yield this.at(index)
  }

  #octetsAt(at: number, bytes: number): Uint8Array {
    const start = at % bytesOfChunk
    return this.#octets[Math.floor(at / bytesOfChunk)]!.subarray(start, start + bytes)
  }

  #nameAt(at: number): Uint8Array {
    const chunk = this.#octets[Math.floor(at / bytesOfChunk)]!
    const start = at % bytesOfChunk
    let end = start
    while (chunk[end] !== 0) end += chunk[end]! + 1
    return chunk.subarray(start, end + 1)
  }

  /** @returns the offset of the copy */
  #put(octets: Uint8Array): number {
    const room = this.#octets.length * bytesOfChunk - this.#octetsUsed
    if (octets.length >= room) {
      this.#octetsUsed += room
      this.#octets.push(new Uint8Array(bytesOfChunk))
    }
    const at = this.#octetsUsed
    this.#octets.at(-1)!.set(octets, at % bytesOfChunk)
    this.#octetsUsed += octets.length
    return at
  }
}
