// Divides the clients of an address family into classes: all tables treat clients of a class alike.
import { overlay } from './cuts.ts'
import type { Address, ClientSource, Cut, Cuts, Overlay } from './cuts.ts'
import { ipv4, ipv6 } from './space.ts'
import type { FamilySpace } from './space.ts'

/** Tables by which people want to see clients listed. */
export interface Places {
  /** Rows of `countries.ts`; null: there is no database. */
  readonly country: ClientSource | null
  /** Rows of the database of autonomous systems; null: there is no database. */
  readonly operator: ClientSource | null
}

export const noPlaces: Places = Object.freeze({ country: null, operator: null })

/** Address spaces of the clients. */
export interface ClientSpaces {
  readonly v4: FamilySpace<number>
  readonly v6: FamilySpace<bigint>
}

const everywhere: ClientSpaces = Object.freeze({ v4: ipv4, v6: ipv6 })

export interface Partition<A extends Address> {
  readonly space: FamilySpace<A>
  /** By class: the weight of its clients. */
  readonly weight: Float64Array
  readonly totalWeight: number
  /** By class: its first address. */
  readonly first: readonly A[]
  /** Ranges of each class; null: they were not kept. */
  readonly ranges: ClassRanges<A> | null
  /**
   * Samples each class that was stored without ranges: networks chosen evenly by weight, at least
   * one of each class. All classes together get `most`, or two each where that is more.
   */
  readonly sample?: (most: number) => readonly Probes[]
  /** Weight of each class by country; null: there is no database. */
  readonly countries: Breakdown | null
  readonly operators: Breakdown | null
}

/** Networks that represent all clients of a class. */
export interface Probes {
  readonly count: number
  /** Four words for each address, as in `Client`. */
  readonly words: Int32Array
  /** Weight of each network. */
  readonly weights: Float64Array
  /** True when all networks are listed: sums over them are exact. */
  readonly isWhole: boolean
}

/** Ranges of classes: each ends where the next one starts, the last one at the end of the space. */
export interface ClassRanges<A extends Address> {
  readonly starts: ArrayLike<A>
  readonly weights: Float64Array
  /** Rows of the ranges of clients, class after class, in order. */
  readonly rows: Uint32Array
  /** By class: the index in `rows` where its rows begin; one more entry for the end. */
  readonly firstOf: Uint32Array
}

/** Weight of the clients of each class in each place. */
export interface Breakdown {
  /** By class: where its entries begin; one more entry for the end. */
  readonly first: Uint32Array
  readonly place: Uint32Array
  readonly weight: Float64Array
  /** By place: the weight of all its clients. */
  readonly wholeOf: Float64Array
}

/** Divides clients into classes by given tables. */
export interface ClientClasses {
  readonly hasCountries: boolean
  readonly v4: (sources: readonly ClientSource[]) => Partition<number>
  readonly v6: (sources: readonly ClientSource[]) => Partition<bigint>
  /** How many rows would be read for these tables; 0: the classes are known. */
  readonly rowsOf: (sources: readonly ClientSource[]) => number
}

/** Caches partitions by their tables: most services of a configuration choose by the same ones. */
export class Partitions implements ClientClasses {
  readonly #places: { readonly country: Cuts | null; readonly operator: Cuts | null }
  readonly #spaces: ClientSpaces
  readonly #around4: Overlay<number>
  readonly #around6: Overlay<bigint>
  readonly #known4 = new Map<string, Partition<number>>()
  readonly #known6 = new Map<string, Partition<bigint>>()
  readonly #cuts = new Map<string, Cuts>()

  constructor(places: Places, spaces: ClientSpaces = everywhere) {
    const country = places.country && this.#cutsOf(places.country)
    const operator = places.operator && this.#cutsOf(places.operator)
    this.#places = { country, operator }
    this.#spaces = spaces
    this.#around4 = overlay(country?.v4 ?? whole(0), operator?.v4 ?? whole(0))
    this.#around6 = overlay(country?.v6 ?? whole(0n), operator?.v6 ?? whole(0n))
  }

  /** Whether a database of countries is loaded. */
  get hasCountries(): boolean {
    return this.#places.country !== null
  }

  v4(sources: readonly ClientSource[]): Partition<number> {
    const key = keyOf(sources)
    let known = this.#known4.get(key)
    if (known === undefined) {
      const cuts = sources.map((source) => this.#cutsOf(source).v4)
      known = partition(
        this.#spaces.v4,
        cuts,
        this.#around4,
        this.#placeCuts(({ v4 }) => v4),
        false,
      )
      keep(this.#known4, key, known)
    }
    return known
  }

  v6(sources: readonly ClientSource[]): Partition<bigint> {
    const key = keyOf(sources)
    let known = this.#known6.get(key)
    if (known === undefined) {
      const own = sources.map((source) => this.#cutsOf(source).v6)
      const { country, operator } = this.#places
      // A database without IPv6 lists no IPv6 client: then all addresses count.
      const isListed =
        this.#spaces.v6.isCounted !== true &&
        [country, operator].some((cuts) => cuts?.v6.rowOf.some((row) => row !== 0))
      known = partition(
        this.#spaces.v6,
        own,
        this.#around6,
        this.#placeCuts(({ v6 }) => v6),
        isListed,
      )
      keep(this.#known6, key, known)
    }
    return known
  }

  rowsOf(sources: readonly ClientSource[]): number {
    return this.#known4.has(keyOf(sources)) ? 0 : rowsOf(sources)
  }

  #placeCuts<A extends Address>(of: (cuts: Cuts) => Cut<A>): PlaceCuts<A> {
    const { country, operator } = this.#places
    return { country: country && of(country), operator: operator && of(operator) }
  }

  #cutsOf({ key, cuts }: ClientSource): Cuts {
    let known = this.#cuts.get(key)
    if (known === undefined) this.#cuts.set(key, (known = cuts()))
    return known
  }
}

/** How many partitions are kept: with a world of places, each takes tens of megabytes. */
const keptMax = 4

function keep<T>(known: Map<string, T>, key: string, one: T): void {
  const [oldest] = known.keys()
  if (known.size === keptMax && oldest !== undefined) known.delete(oldest)
  known.set(key, one)
}

interface PlaceCuts<A extends Address> {
  readonly country: Cut<A> | null
  readonly operator: Cut<A> | null
}

export function rowsOf(sources: readonly ClientSource[]): number {
  return sources.reduce((sum, source) => {
    const { v4, v6 } = source.rows()
    return sum + v4.count + v6.count
  }, 0)
}

export function keyOf(sources: readonly ClientSource[]): string {
  return [...new Set(sources.map(({ key }) => key))].sort().join(' ')
}

function whole<A extends Address>(zero: A): Cut<A> {
  return { starts: [zero], valueOf: Uint32Array.of(0), values: 1, rowOf: [0] }
}

/** @param isListed true: clients in no database have no weight, since most of IPv6 is unassigned */
function partition<A extends Address>(
  space: FamilySpace<A>,
  cuts: readonly Cut<A>[],
  around: Overlay<A>,
  places: PlaceCuts<A>,
  isListed: boolean,
): Partition<A> {
  let classes: Omit<Cut<A>, 'rowOf'> = space.clients
  let isClient = [false, true]
  for (const one of cuts) {
    const both = overlay(classes, one)
    isClient = both.ofOne.map((value) => isClient[value]!)
    classes = both
  }
  const numberOf = numbered(isClient)
  const all = overlay(classes, around)
  const classOf = Int32Array.from(all.ofOne, (value) => numberOf[value]!)
  const weight = new Float64Array(isClient.filter(Boolean).length)
  const first: A[] = []
  const { starts, valueOf } = all
  const weights = new Float64Array(starts.length)
  const countries = new PlaceSums(places.country, (value) => around.ofOne[value]!)
  const operators = new PlaceSums(places.operator, (value) => around.ofTwo[value]!)
  for (let i = 0; i < starts.length; i++) {
    const value = valueOf[i]!
    const number = classOf[value]!
    if (number < 0) continue
    const start = starts[i]!
    const place = all.ofTwo[value]!
    const isUnknown = isListed && countries.rowAt(place) === 0 && operators.rowAt(place) === 0
    const counts = isUnknown ? 0 : space.weightOf(start, starts[i + 1] ?? space.end)
    first[number] ??= start
    weights[i] = counts
    weight[number]! += counts
    countries.add(number, place, counts)
    operators.add(number, place, counts)
  }
  return {
    space,
    weight,
    totalWeight: weight.reduce((sum, one) => sum + one, 0),
    first,
    ranges: { starts, weights, ...rowsByClass(valueOf, classOf, weight.length) },
    countries: countries.byClass(weight.length),
    operators: operators.byClass(weight.length),
  }
}

function rowsByClass(
  valueOf: Uint32Array,
  classOf: Int32Array,
  classes: number,
): Pick<ClassRanges<Address>, 'rows' | 'firstOf'> {
  const firstOf = new Uint32Array(classes + 1)
  for (const value of valueOf) if (classOf[value]! >= 0) firstOf[classOf[value]! + 1]!++
  for (let i = 0; i < classes; i++) firstOf[i + 1]! += firstOf[i]!
  const rows = new Uint32Array(firstOf[classes]!)
  const next = firstOf.slice()
  for (const [row, value] of valueOf.entries()) {
    const number = classOf[value]!
    if (number >= 0) rows[next[number]!++] = row
  }
  return { rows, firstOf }
}

/** Numbers the classes for which `holds` is true; -1 for the others. */
function numbered(holds: readonly boolean[]): Int32Array {
  let next = 0
  return Int32Array.from(holds, (one) => (one ? next++ : -1))
}

/** Sums weights by class and place. */
class PlaceSums {
  readonly #cut: Omit<Cut<Address>, 'starts'> | null
  readonly #valueOf: (place: number) => number
  readonly #sums = new Map<number, number>()

  constructor(cut: Omit<Cut<Address>, 'starts'> | null, valueOf: (place: number) => number) {
    this.#cut = cut
    this.#valueOf = valueOf
  }

  /** The place by the table; 0: none, or there is no table. */
  rowAt(place: number): number {
    return this.#cut === null ? 0 : this.#cut.rowOf[this.#valueOf(place)]!
  }

  add(number: number, place: number, weight: number): void {
    if (this.#cut === null || weight === 0) return
    const key = number * this.#cut.values + this.#valueOf(place)
    this.#sums.set(key, (this.#sums.get(key) ?? 0) + weight)
  }

  byClass(classes: number): Breakdown | null {
    if (this.#cut === null) return null
    const { values, rowOf } = this.#cut
    const keys = Float64Array.from(this.#sums.keys()).sort()
    const first = new Uint32Array(classes + 1)
    for (const key of keys) first[Math.floor(key / values) + 1]!++
    for (let i = 0; i < classes; i++) first[i + 1]! += first[i]!
    const place = Uint32Array.from(keys, (key) => rowOf[key % values]!)
    const weight = Float64Array.from(keys, (key) => this.#sums.get(key)!)
    const wholeOf = new Float64Array(rowOf.reduce((most, row) => Math.max(most, row), 0) + 1)
    for (const [i, row] of place.entries()) wholeOf[row]! += weight[i]!
    return { first, place, weight, wholeOf }
  }
}
