// Cuts an address space into ranges: those of one table, or of two tables laid over each other.
import * as clientRanges from '#bundle/format/client-ranges.ts'
import type { Bundle } from '#bundle/format/bundle.ts'
import type { RangeTable } from '#routing/tables/range-table.ts'

const { Network4Cell, Network6Cell, NetworkCell } = clientRanges

/** An IPv4 address as a number, an IPv6 address as a bigint. */
export type Address = number | bigint

/**
 * Ranges without a gap, in order: the first starts at 0, and each ends where the next one starts.
 */
export interface Cut<A extends Address> {
  readonly starts: ArrayLike<A>
  /** By range: the number of its value, below `values`. */
  readonly valueOf: Uint32Array
  readonly values: number
  /** By value: what the table holds for it. */
  readonly rowOf: readonly number[]
}

/** The cuts of a table in both address families. */
export interface Cuts {
  readonly v4: Cut<number>
  readonly v6: Cut<bigint>
}

/** Ranges of a table that are read one by one. */
export interface Rows<A extends Address> {
  readonly count: number
  readonly startOf: (row: number) => A
  readonly valueOf: (row: number) => number
}

/** The rows of a table in both address families. */
export interface BothRows {
  readonly v4: Rows<number>
  readonly v6: Rows<bigint>
}

/** A table of client networks by which a service chooses. */
export interface ClientSource {
  /** Sources with equal keys have the same ranges. */
  readonly key: string
  readonly cuts: () => Cuts
  /** Reads the rows from the table, without a copy. */
  readonly rows: () => BothRows
}

export function rowsOfRanges(table: RangeTable): BothRows {
  const word = (row: number, at: number): bigint => BigInt(table.start6(row, at))
  return {
    v4: {
      count: table.count4,
      startOf: (row) => table.start4(row),
      valueOf: (row) => table.value4(row),
    },
    v6: {
      count: table.count6,
      startOf: (row) => addressOf6(word(row, 0), word(row, 1), word(row, 2), word(row, 3)),
      valueOf: (row) => table.value6(row),
    },
  }
}

export function rowsOfCut<A extends Address>({ starts, valueOf }: Ranges<A>): Rows<A> {
  return {
    count: starts.length,
    startOf: (row) => starts[row]!,
    valueOf: (row) => valueOf[row]!,
  }
}

/** @param table row of `networkTable` */
export function rowsOfNetworks(bundle: Bundle, table: number): BothRows {
  const { network4, network6, networkTable } = bundle
  const cell = table * NetworkCell.Words
  const first4 = networkTable[cell + NetworkCell.Start4]!
  const first6 = networkTable[cell + NetworkCell.Start6]!
  const at4 = (row: number): number => (first4 + row) * Network4Cell.Words
  const at6 = (row: number): number => (first6 + row) * Network6Cell.Words
  const word = (row: number, at: number): bigint => BigInt(network6[at6(row) + at]!)
  return {
    v4: {
      count: networkTable[cell + NetworkCell.Count4]!,
      startOf: (row) => network4[at4(row)]!,
      valueOf: (row) => network4[at4(row) + Network4Cell.List]!,
    },
    v6: {
      count: networkTable[cell + NetworkCell.Count6]!,
      startOf: (row) => addressOf6(word(row, 0), word(row, 1), word(row, 2), word(row, 3)),
      valueOf: (row) => network6[at6(row) + Network6Cell.List]!,
    },
  }
}

export function cutsOf({ v4, v6 }: BothRows): Cuts {
  const starts4 = Uint32Array.from({ length: v4.count }, (_, row) => v4.startOf(row))
  const starts6 = Array.from({ length: v6.count }, (_, row) => v6.startOf(row))
  return { v4: dense(starts4, valuesOf(v4)), v6: dense(starts6, valuesOf(v6)) }
}

const valuesOf = ({ count, valueOf }: Omit<Rows<Address>, 'startOf'>): Uint32Array =>
  Uint32Array.from({ length: count }, (_, row) => valueOf(row))

function addressOf6(w0: bigint, w1: bigint, w2: bigint, w3: bigint): bigint {
  return (w0 << 96n) | (w1 << 64n) | (w2 << 32n) | w3
}

/** Numbers the values in the order of their first ranges. */
function dense<A extends Address>(starts: ArrayLike<A>, given: Uint32Array): Cut<A> {
  const numbers = new Map<number, number>()
  const valueOf = given.map((value) => {
    const known = numbers.get(value)
    if (known !== undefined) return known
    numbers.set(value, numbers.size)
    return numbers.size - 1
  })
  return { starts, valueOf, values: numbers.size, rowOf: [...numbers.keys()] }
}

type Ranges<A extends Address> = Omit<Cut<A>, 'rowOf'>

/** Two cuts laid over each other: a value of the result stands for a pair of values. */
export interface Overlay<A extends Address> extends Omit<Cut<A>, 'rowOf'> {
  /** By value of the result: the value in `one`. */
  readonly ofOne: readonly number[]
  readonly ofTwo: readonly number[]
}

export function overlay<A extends Address>(one: Ranges<A>, two: Ranges<A>): Overlay<A> {
  // Common: half of all tables of places do not exist, and have one range.
  if (two.starts.length === 1) {
    const { values } = one
    return { ...one, ofOne: [...Array(values).keys()], ofTwo: Array<number>(values).fill(0) }
  }
  const both = new Pairs(one, two)
  let [i, j] = [0, 0]
  both.add(one.starts[0]!, i, j)
  for (;;) {
    const next: A | undefined = one.starts[i + 1]
    const other: A | undefined = two.starts[j + 1]
    if (next === other) {
      if (next === undefined) return both.done()
      both.add(next, ++i, ++j)
    } else if (other === undefined || (next !== undefined && next < other)) {
      const end = firstNotBefore(one.starts, i + 1, other)
      while (i + 1 < end) both.add(one.starts[++i]!, i, j)
    } else {
      const end = firstNotBefore(two.starts, j + 1, next)
      while (j + 1 < end) both.add(two.starts[++j]!, i, j)
    }
  }
}

/** Up to so many pairs of values, their numbers are in an array; beyond, in a map. */
const tableMax = 1_048_576

/** Numbers pairs of values as they first appear, and joins neighbouring ranges of one pair. */
class Pairs<A extends Address> {
  readonly #one: Ranges<A>
  readonly #two: Ranges<A>
  readonly #starts: A[] = []
  readonly #valueOf: Uint32Array
  /** By pair: its number plus one, so that 0 means none. */
  readonly #table: Uint32Array | null
  readonly #map = new Map<number, number>()
  readonly #ofOne: number[] = []
  readonly #ofTwo: number[] = []
  #last = -1

  constructor(one: Ranges<A>, two: Ranges<A>) {
    this.#one = one
    this.#two = two
    this.#valueOf = new Uint32Array(one.starts.length + two.starts.length)
    const pairs = one.values * two.values
    this.#table = pairs <= tableMax ? new Uint32Array(pairs) : null
  }

  /**
   * @param i row of the one.
   * @param j of the other
   */
  add(start: A, i: number, j: number): void {
    const number = this.#numberOf(this.#one.valueOf[i]!, this.#two.valueOf[j]!)
    if (number === this.#last) return
    this.#last = number
    this.#valueOf[this.#starts.length] = number
    this.#starts.push(start)
  }

  #numberOf(first: number, second: number): number {
    const pair = first * this.#two.values + second
    const known = this.#table === null ? this.#map.get(pair) : this.#table[pair]! - 1
    if (known !== undefined && known >= 0) return known
    const number = this.#ofOne.length
    if (this.#table === null) this.#map.set(pair, number)
    else this.#table[pair] = number + 1
    this.#ofOne.push(first)
    this.#ofTwo.push(second)
    return number
  }

  done(): Overlay<A> {
    const [starts, ofOne, ofTwo] = [this.#starts, this.#ofOne, this.#ofTwo]
    const valueOf = this.#valueOf.slice(0, starts.length)
    return { starts, valueOf, values: ofOne.length, ofOne, ofTwo }
  }
}

/**
 * Finds the first row from `from` on that does not start before `end`, in growing steps, since
 * comparing IPv6 addresses is slow.
 */
function firstNotBefore<A extends Address>(
  starts: ArrayLike<A>,
  from: number,
  end: A | undefined,
): number {
  if (end === undefined) return starts.length
  let [low, step] = [from, 1]
  while (low + step < starts.length && starts[low + step]! < end) {
    low += step
    step *= 2
  }
  let high = Math.min(low + step, starts.length)
  // The row at `low` starts before `end`, the row at `high` does not.
  while (high - low > 1) {
    const middle = (low + high) >>> 1
    if (starts[middle]! < end) low = middle
    else high = middle
  }
  return high
}
