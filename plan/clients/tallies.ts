// Adds up the clients of each class without keeping their ranges, so that a table of the world
// takes kilobytes.
import type { GeoBuffers } from '#routing/geo/geo-tables.ts'
import { RangeTable } from '#routing/tables/range-table.ts'
import { rowsOfCut, rowsOfRanges } from './cuts.ts'
import type { Address, BothRows, ClientSource, Rows } from './cuts.ts'
import { keyOf, noPlaces, Partitions, rowsOf } from './partition.ts'
import type { ClientClasses, Partition } from './partition.ts'
import { ipv4, ipv6 } from './space.ts'
import type { FamilySpace } from './space.ts'

interface Both {
  readonly v4: Partition<number>
  readonly v6: Partition<bigint>
}

/** A class is two numbers; a service that goes by cities has some ten thousand. */
const keptMax = 16

/**
 * Classes as those of `Partitions` with the same databases: a class counts the same, and its first
 * address is the same. By which country or operator its clients are is not known.
 */
export class Tallies implements ClientClasses {
  readonly hasCountries = false
  /** Of clients that no table divides. */
  readonly #whole = new Partitions(noPlaces)
  /** Tables that tell which IPv6 clients there are: most of IPv6 is nobody's. */
  readonly #listing: readonly BothRows[]
  readonly #known = new Map<string, Both>()

  constructor({ country, asn }: GeoBuffers) {
    this.#listing = [country, asn].flatMap((database) => {
      if (database === null) return []
      const rows = rowsOfRanges(new RangeTable(database.ranges))
      return isAnyKnown(rows.v6) ? [rows] : []
    })
  }

  v4(sources: readonly ClientSource[]): Partition<number> {
    return sources.length === 0 ? this.#whole.v4(sources) : this.#of(sources).v4
  }

  v6(sources: readonly ClientSource[]): Partition<bigint> {
    return sources.length === 0 ? this.#whole.v6(sources) : this.#of(sources).v6
  }

  rowsOf(sources: readonly ClientSource[]): number {
    if (sources.length === 0 || this.#known.has(keyOf(sources))) return 0
    const listed = this.#listing.reduce((sum, { v6 }) => sum + v6.count, 0)
    return listed + rowsOf(sources)
  }

  #of(sources: readonly ClientSource[]): Both {
    const key = keyOf(sources)
    let known = this.#known.get(key)
    if (known === undefined) {
      const tables = sources.map((source) => source.rows())
      const of4 = tables.map(({ v4 }) => v4)
      const of6 = tables.map(({ v6 }) => v6)
      const listing = this.#listing.map(({ v6 }) => v6)
      known = { v4: tally(ipv4, of4, []), v6: tally(ipv6, of6, listing) }
    }
    // The one that was asked for last is the last to go.
    this.#known.delete(key)
    const [oldest] = this.#known.keys()
    if (this.#known.size === keptMax && oldest !== undefined) this.#known.delete(oldest)
    this.#known.set(key, known)
    return known
  }
}

function isAnyKnown({ count, valueOf }: Rows<bigint>): boolean {
  for (let row = 0; row < count; row++) if (valueOf(row) !== 0) return true
  return false
}

/** @param listing clients that none of these tables knows count nothing; none: all count */
function tally<A extends Address>(
  space: FamilySpace<A>,
  tables: readonly Rows<A>[],
  listing: readonly Rows<A>[],
): Partition<A> {
  const clients = new Cursor(rowsOfCut(space.clients), space.end)
  const told = tables.map((rows) => new Cursor(rows, space.end))
  const listed = listing.map((rows) => new Cursor(rows, space.end))
  const all = [clients, ...told, ...listed]
  const classes = new Classes(told)
  const weight: number[] = []
  const first: A[] = []
  for (let start = space.clients.starts[0]!; start < space.end;) {
    const end = all.reduce((least, { end: one }) => (one < least ? one : least), space.end)
    if (clients.value === 1) {
      const number = classes.current()
      if (number === weight.length) {
        weight.push(0)
        first.push(start)
      }
      const counts = listed.length === 0 || listed.some(({ value }) => value !== 0)
      if (counts) weight[number]! += space.weightOf(start, end)
    }
    for (const cursor of all) if (cursor.end === end) cursor.next()
    start = end
  }
  const totalWeight = weight.reduce((sum, one) => sum + one, 0)
  const none = { ranges: null, countries: null, operators: null }
  return { space, weight: Float64Array.from(weight), totalWeight, first, ...none }
}

/** A row of a table, on its way through all of them. */
class Cursor<A extends Address> {
  value: number
  /** Where the next row begins. */
  end: A
  readonly #rows: Rows<A>
  readonly #last: A
  #row = 0

  constructor(rows: Rows<A>, last: A) {
    this.#rows = rows
    this.#last = last
    this.value = rows.valueOf(0)
    this.end = this.#endOfRow()
  }

  next(): void {
    if (this.#row === this.#rows.count - 1) return
    this.#row++
    this.value = this.#rows.valueOf(this.#row)
    this.end = this.#endOfRow()
  }

  #endOfRow(): A {
    return this.#row === this.#rows.count - 1 ? this.#last : this.#rows.startOf(this.#row + 1)
  }
}

/** A value of a table is less, and so are the combinations of values. */
const valuesMax = 2 ** 26

/** Numbers combinations of values in the order in which they come. */
class Classes {
  readonly #cursors: readonly Cursor<Address>[]
  /** By table: the combination of those before it and its value. */
  readonly #numbers: readonly Map<number, number>[]

  constructor(cursors: readonly Cursor<Address>[]) {
    this.#cursors = cursors
    this.#numbers = cursors.map(() => new Map<number, number>())
  }

  /** Of the rows where the cursors are. */
  current(): number {
    let number = 0
    for (const [i, { value }] of this.#cursors.entries()) {
      const numbers = this.#numbers[i]!
      const key = number * valuesMax + value
      let known = numbers.get(key)
      if (known === undefined) numbers.set(key, (known = numbers.size))
      number = known
    }
    return number
  }
}
