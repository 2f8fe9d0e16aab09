// The records of a zone in columns: a million of them take 70 MB, as objects several hundred.
import type { ZoneRecord } from './zone-record.ts'

/** One row: where owner and rdata begin among the octets, then the rest of the record. */
const cell = { owner: 0, rdata: 1, rdataBytes: 2, type: 3, ttl: 4, text: 5, position: 6 } as const
const cells = Object.keys(cell).length

/** Rows and octets lie in chunks, so that nothing is copied when there are more of them. */
const rowsOfChunk = 16_384
/** More than a name or an rdata can have; neither is ever divided. */
const bytesOfChunk = 2 ** 20

/** Where a record was written. */
export interface RecordOrigin {
  /** Number of the text, in the order in which texts were begun. */
  readonly text: number
  /** Place in it, counted from 1. */
  readonly position: number
}

/** Records are added at the end and never change; each comes back as an object of its own. */
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

  /** Neighbours with one owner share its octets, when it is the same array. */
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

  /** Where its owner is: neighbours with the same number have the same one. */
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

  /** @returns where they are */
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
