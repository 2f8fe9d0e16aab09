// Sums the weights of classes without keeping their ranges: a table of the world takes kilobytes.
import type { GeoBuffers } from '#routing/geo/geo-tables.ts'
import { RangeTable } from '#routing/tables/range-table.ts'
import { rowsOfCut, rowsOfRanges } from './cuts.ts'
import type { Address, BothRows, ClientSource, Rows } from './cuts.ts'
import { keyOf, noPlaces, Partitions, rowsOf } from './partition.ts'
import type { ClientClasses, Partition, Probes } from './partition.ts'
import { ipv4, ipv6 } from './space.ts'
import type { FamilySpace } from './space.ts'

interface Both {
  readonly v4: Tally<number>
  readonly v6: Tally<bigint>
}

interface Tally<A extends Address> {
  readonly partition: Partition<A>
  /** The last sample; undefined: none was taken. */
  sampled?: { readonly most: number; readonly probes: readonly Probes[] }
}

/** The tables to walk: those that divide clients, and those that list them. */
interface Walked<A extends Address> {
  readonly space: FamilySpace<A>
  readonly tables: readonly Rows<A>[]
  /** Tables that list clients; clients in none of them have no weight. Empty: all count. */
  readonly listing: readonly Rows<A>[]
}

/** How many tallies are kept. A class is two numbers; a service by cities has some ten thousand. */
const keptMax = 16

/**
 * Gives the same classes as `Partitions` with the same databases, with equal weights and first
 * addresses, but not the countries and operators of clients.
 */
export class Tallies implements ClientClasses {
  readonly hasCountries = false
  /** For answers by which no table divides the clients. */
  readonly #whole = new Partitions(noPlaces)
  /** Tables that list IPv6 clients: most of IPv6 is unassigned. */
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
    if (sources.length === 0) return this.#whole.v4(sources)
    return sampled(this.#of(sources).v4, () => this.#walked4(sources))
  }

  v6(sources: readonly ClientSource[]): Partition<bigint> {
    if (sources.length === 0) return this.#whole.v6(sources)
    return sampled(this.#of(sources).v6, () => this.#walked6(sources))
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
      const v4 = { partition: tally(this.#walked4(sources)) }
      known = { v4, v6: { partition: tally(this.#walked6(sources)) } }
    }
    // Moved to the end: the tally that was not asked for longest is dropped first.
    this.#known.delete(key)
    const [oldest] = this.#known.keys()
    if (this.#known.size === keptMax && oldest !== undefined) this.#known.delete(oldest)
    this.#known.set(key, known)
    return known
  }

  #walked4(sources: readonly ClientSource[]): Walked<number> {
    return { space: ipv4, tables: sources.map((source) => source.rows().v4), listing: [] }
  }

  #walked6(sources: readonly ClientSource[]): Walked<bigint> {
    const listing = this.#listing.map(({ v6 }) => v6)
    return { space: ipv6, tables: sources.map((source) => source.rows().v6), listing }
  }
}

/**
 * Uses the tables of this call for the sample: those of the tally may be gone with their bundle.
 */
function sampled<A extends Address>(kept: Tally<A>, walked: () => Walked<A>): Partition<A> {
  const { partition } = kept
  const sample = (most: number): readonly Probes[] => {
    if (kept.sampled?.most !== most) {
      kept.sampled = { most, probes: sampleOf(walked(), partition, most) }
    }
    return kept.sampled.probes
  }
  return { ...partition, sample }
}

function isAnyKnown({ count, valueOf }: Rows<bigint>): boolean {
  for (let row = 0; row < count; row++) if (valueOf(row) !== 0) return true
  return false
}

function tally<A extends Address>(walked: Walked<A>): Partition<A> {
  const { space } = walked
  const weight: number[] = []
  const first: A[] = []
  walk(walked, (number, start, _end, counts) => {
    if (number === weight.length) {
      weight.push(0)
      first.push(start)
    }
    weight[number]! += counts
  })
  const totalWeight = weight.reduce((sum, one) => sum + one, 0)
  const none = { ranges: null, countries: null, operators: null }
  return { space, weight: Float64Array.from(weight), totalWeight, first, ...none }
}

/** @param visit called for each range of clients in order, with its class and weight */
function walk<A extends Address>(
  { space, tables, listing }: Walked<A>,
  visit: (number: number, start: A, end: A, counts: number) => void,
): void {
  const clients = new Cursor(rowsOfCut(space.clients), space.end)
  const dividing = tables.map((rows) => new Cursor(rows, space.end))
  const listed = listing.map((rows) => new Cursor(rows, space.end))
  const all = [clients, ...dividing, ...listed]
  const classes = new Classes(dividing)
  for (let start = space.clients.starts[0]!; start < space.end;) {
    const end = all.reduce((least, { end: one }) => (one < least ? one : least), space.end)
    if (clients.value === 1) {
      const counts = listed.length === 0 || listed.some(({ value }) => value !== 0)
      visit(classes.current(), start, end, counts ? space.weightOf(start, end) : 0)
    }
    for (const cursor of all) if (cursor.end === end) cursor.next()
    start = end
  }
}

/** Chooses networks as `chosenNetworks` does for a class, in one walk for all classes. */
function sampleOf<A extends Address>(
  walked: Walked<A>,
  { space, weight, totalWeight, first }: Partition<A>,
  most: number,
): readonly Probes[] {
  const fewest = Math.max(1, Math.floor(most / weight.length / 2))
  const counts = weight.map((one) =>
    Math.max(fewest, Math.floor((most * one) / (totalWeight || 1))),
  )
  const offsets = new Uint32Array(counts.length + 1)
  for (const [number, count] of counts.entries()) offsets[number + 1] = offsets[number]! + count
  const words = new Int32Array(offsets.at(-1)! * 4)
  const own = new Int32Array(4)
  const found = new Uint32Array(counts.length)
  const passed = new Float64Array(counts.length)
  const add = (number: number, address: A): void => {
    space.toWords(address, own)
    words.set(own, (offsets[number]! + found[number]!++) * 4)
  }
  walk(walked, (number, start, end, heavy) => {
    const each = weight[number]! / counts[number]!
    const before = passed[number]!
    for (;;) {
      const next = (found[number]! + 0.5) * each
      if (heavy === 0 || next >= before + heavy || found[number]! === counts[number]!) break
      add(number, space.within(start, end, Math.max(0, (next - before) / heavy)))
    }
    passed[number] = before + heavy
  })
  return Array.from(counts, (_, number): Probes => {
    // A class whose clients have no weight is represented by its first address.
    if (found[number] === 0) add(number, first[number]!)
    const count = found[number]!
    const from = offsets[number]! * 4
    const weights = new Float64Array(count).fill(weight[number]! / count)
    return { count, words: words.subarray(from, from + count * 4), weights, isWhole: false }
  })
}

/** The current row of a table during a walk. */
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

/** A bound of the values of a table, and of the combinations of values. */
const valuesMax = 2 ** 26

/** Numbers combinations of values in the order in which they appear. */
class Classes {
  readonly #cursors: readonly Cursor<Address>[]
  /** By table: from a combination of the tables before it, and its value, to a number. */
  readonly #numbers: readonly Map<number, number>[]

  constructor(cursors: readonly Cursor<Address>[]) {
    this.#cursors = cursors
    this.#numbers = cursors.map(() => new Map<number, number>())
  }

  /** The class of the current rows. */
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
