// Address spaces cut into ranges: those of a table, those of two tables laid over each other.
import * as clientRanges from '#bundle/format/client-ranges.ts'
import type { Bundle } from '#bundle/format/bundle.ts'
import type { RangeTable } from '#routing/tables/range-table.ts'

const { Network4Cell, Network6Cell, NetworkCell } = clientRanges

/** An IPv4 address as a number, an IPv6 address as a bigint. */
export type Address = number | bigint

/** Ranges without a gap, in order: each ends where the next one starts, the first starts at 0. */
export interface Cut<A extends Address> {
  readonly starts: ArrayLike<A>
  /** By range: its value, from 0 to `values - 1`. */
  readonly valueOf: Uint32Array
  readonly values: number
  /** By value: what the table has for it. */
  readonly told: readonly number[]
}

/** The same table in both families. */
export interface Cuts {
  readonly v4: Cut<number>
  readonly v6: Cut<bigint>
}

/** The ranges of a table, read one by one. */
export interface Rows<A extends Address> {
  readonly count: number
  readonly startOf: (row: number) => A
  readonly valueOf: (row: number) => number
}

/** The same table in both families. */
export interface BothRows {
  readonly v4: Rows<number>
  readonly v6: Rows<bigint>
}

/** What the choice of a service goes by: a table of client networks. */
export interface ClientSource {
  /** Equal keys: the same ranges. */
  readonly key: string
  readonly cuts: () => Cuts
  /** Without copies of them. */
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

export function cutsOfRanges(table: RangeTable): Cuts {
  const { v4, v6 } = rowsOfRanges(table)
  const start4 = Uint32Array.from({ length: v4.count }, (_, row) => v4.startOf(row))
  const value4 = Uint32Array.from({ length: v4.count }, (_, row) => v4.valueOf(row))
  const start6 = Array.from({ length: v6.count }, (_, row) => v6.startOf(row))
  const value6 = Uint32Array.from({ length: v6.count }, (_, row) => v6.valueOf(row))
  return { v4: dense(start4, value4), v6: dense(start6, value6) }
}

/** @param table row of `networkTable` */
export function cutsOfNetworks(bundle: Bundle, table: number): Cuts {
  const { network4, network6, networkTable } = bundle
  const cell = table * NetworkCell.Words
  const first4 = networkTable[cell + NetworkCell.Start4]!
  const first6 = networkTable[cell + NetworkCell.Start6]!
  const count4 = networkTable[cell + NetworkCell.Count4]!
  const count6 = networkTable[cell + NetworkCell.Count6]!
  const at4 = (row: number): number => (first4 + row) * Network4Cell.Words
  const at6 = (row: number): number => (first6 + row) * Network6Cell.Words
  const word = (row: number, at: number): bigint => BigInt(network6[at6(row) + at]!)
  return {
    v4: dense(
      Uint32Array.from({ length: count4 }, (_, row) => network4[at4(row)]!),
      Uint32Array.from({ length: count4 }, (_, row) => network4[at4(row) + Network4Cell.List]!),
    ),
    v6: dense(
      Array.from({ length: count6 }, (_, row) =>
        addressOf6(word(row, 0), word(row, 1), word(row, 2), word(row, 3)),
      ),
      Uint32Array.from({ length: count6 }, (_, row) => network6[at6(row) + Network6Cell.List]!),
    ),
  }
}

export function addressOf6(w0: bigint, w1: bigint, w2: bigint, w3: bigint): bigint {
  return (w0 << 96n) | (w1 << 64n) | (w2 << 32n) | w3
}

/** Numbers the values in the order in which they come. */
function dense<A extends Address>(starts: ArrayLike<A>, given: Uint32Array): Cut<A> {
  const numbers = new Map<number, number>()
  const valueOf = given.map((value) => {
    const known = numbers.get(value)
    if (known !== undefined) return known
    numbers.set(value, numbers.size)
    return numbers.size - 1
  })
  return { starts, valueOf, values: numbers.size, told: [...numbers.keys()] }
}

type Ranges<A extends Address> = Omit<Cut<A>, 'told'>

/** Both cuts at once: a value of the result stands for a pair. */
export interface Overlay<A extends Address> extends Omit<Cut<A>, 'told'> {
  /** By value: the value in `one`. */
  readonly ofOne: readonly number[]
  readonly ofTwo: readonly number[]
}

export function overlay<A extends Address>(one: Ranges<A>, two: Ranges<A>): Overlay<A> {
  // Half of all tables of places are not there.
  if (two.starts.length === 1) {
    const { values } = one
    return { ...one, ofOne: [...Array(values).keys()], ofTwo: Array<number>(values).fill(0) }
  }
  const starts: A[] = []
  const values: number[] = []
  const numbers = new Map<number, number>()
  const ofOne: number[] = []
  const ofTwo: number[] = []
  let i = 0
  let j = 0
  let start = one.starts[0]!
  for (;;) {
    const first = one.valueOf[i]!
    const second = two.valueOf[j]!
    const pair = first * two.values + second
    let number = numbers.get(pair)
    if (number === undefined) {
      number = numbers.size
      numbers.set(pair, number)
      ofOne.push(first)
      ofTwo.push(second)
    }
    if (values.length === 0 || values[values.length - 1] !== number) {
      starts.push(start)
      values.push(number)
    }
    const next = earliest(one.starts[i + 1], two.starts[j + 1])
    if (next === undefined) break
    if (one.starts[i + 1] === next) i++
    if (two.starts[j + 1] === next) j++
    start = next
  }
  return { starts, valueOf: Uint32Array.from(values), values: numbers.size, ofOne, ofTwo }
}

function earliest<A extends Address>(one: A | undefined, other: A | undefined): A | undefined {
  if (one === undefined || other === undefined) return one ?? other
  return one < other ? one : other
}
