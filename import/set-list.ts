// The record sets of one zone, made from records on demand, in the order of their owners.
import { foldName } from '#dns/name.ts'
import type { RecordList } from '#dns/zone-file/record-list.ts'
import type { ZonePlace } from '#dns/zone-file/zone-record.ts'
import type { Imported } from './sources/imported.ts'
import type { OwnerKeys } from './owner-order.ts'

/** The columns behind record sets: a million objects would take too much memory. */
interface SetColumns {
  readonly records: RecordList
  readonly placeOf: Imported['placeOf']
  readonly keys: OwnerKeys
  /** Sort key by record. */
  readonly keyOf: Uint32Array
  /** Numbers of records; those of a set are adjacent, in the order of the file. */
  readonly order: Uint32Array
  /** Start of each set's records in `order`, and the end of the last set. */
  readonly starts: Uint32Array
  /** By set: the lowest TTL of its records. */
  readonly ttls: Uint32Array
}

/** A record set of an import: all records of one owner and type. RFC 2181 section 5. */
export class RecordSet {
  readonly #columns: SetColumns
  readonly #number: number

  constructor(columns: SetColumns, number: number) {
    this.#columns = columns
    this.#number = number
  }

  /** Wire form in lower case. */
  get owner(): Uint8Array {
    return foldName(this.#columns.records.ownerOf(this.#first))
  }

  get ownerBytes(): number {
    return this.#columns.records.ownerOf(this.#first).length
  }

  get type(): number {
    return this.#columns.records.typeOf(this.#first)
  }

  get ttl(): number {
    return this.#columns.ttls[this.#number]!
  }

  get recordCount(): number {
    return this.#columns.starts[this.#number + 1]! - this.#columns.starts[this.#number]!
  }

  /** Octets of its rdata, without their lengths. */
  get rdataBytes(): number {
    const { records, order, starts } = this.#columns
    let bytes = 0
    const end = starts[this.#number + 1]!
    for (let at = starts[this.#number]!; at < end; at++) bytes += records.rdataBytesOf(order[at]!)
    return bytes
  }

  /** Each rdata once, in the order of the file. */
  get rdata(): Uint8Array[] {
    const { records, order, starts } = this.#columns
    const rdata: Uint8Array[] = []
    const end = starts[this.#number + 1]!
    for (let at = starts[this.#number]!; at < end; at++) rdata.push(records.rdataOf(order[at]!))
    return rdata
  }

  /** Place of its first record. */
  get place(): ZonePlace {
    return this.#columns.placeOf(this.#first)
  }

  hasOwnerOf(other: RecordSet): boolean {
    return this.#columns.keys.compare(this.#key, other.#key) === 0
  }

  get #first(): number {
    return this.#columns.order[this.#columns.starts[this.#number]!]!
  }

  get #key(): number {
    return this.#columns.keyOf[this.#first]!
  }
}

/** Sorted by owner and type. */
export class RecordSets implements Iterable<RecordSet> {
  readonly #columns: SetColumns
  /** Numbers of the remaining sets. */
  readonly #numbers: Uint32Array

  constructor(columns: SetColumns, numbers: Uint32Array) {
    this.#columns = columns
    this.#numbers = numbers
  }

  get length(): number {
    return this.#numbers.length
  }

  at(index: number): RecordSet {
    return new RecordSet(this.#columns, this.#numbers[index]!)
  }

  *[Symbol.iterator](): Generator<RecordSet> {
    for (let index = 0; index < this.length; index++) yield this.at(index)
  }

  /** @param gone positions */
  without(gone: ReadonlySet<number>): RecordSets {
    const numbers = new Uint32Array(this.length - gone.size)
    let [from, used] = [0, 0]
    for (const index of [...gone, this.length].sort((a, b) => a - b)) {
      numbers.set(this.#numbers.subarray(from, index), used)
      used += index - from
      from = index + 1
    }
    return new RecordSets(this.#columns, numbers)
  }

  /** Positions of an owner's sets. @param owner at or below the name of the zone */
  ofOwner(owner: Uint8Array): readonly number[] {
    const { keys } = this.#columns
    const key = keys.lookFor(owner)
    let [low, high] = [0, this.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if (keys.compare(this.#keyAt(middle), key) < 0) low = middle + 1
      else high = middle
    }
    const found: number[] = []
    for (; low < this.length && keys.compare(this.#keyAt(low), key) === 0; low++) found.push(low)
    return found
  }

  #keyAt(index: number): number {
    const { keyOf, order, starts } = this.#columns
    return keyOf[order[starts[this.#numbers[index]!]!]!]!
  }
}
