// Stores client networks as sorted, disjoint ranges, each with a list of preferred members.
import { assert } from '#lib/assert.ts'
import type { ClientRange, ClientRanges } from './model.ts'

/**
 * A row of `networkTable`: the rows of `network4` and of `network6` that belong to one table. A
 * table covers every address: its first row starts at 0, each row ends where the next one starts.
 */
export const NetworkCell = { Words: 4, Start4: 0, Count4: 1, Start6: 2, Count6: 3 } as const
/** A row of `network4`: first address, and the offset of a list in `networkList`. */
export const Network4Cell = { Words: 2, Start: 0, List: 1 } as const
/** A row of `network6`: the first address as four words, the most significant one first. */
export const Network6Cell = { Words: 5, Start: 0, List: 4 } as const
/** The table of `mapFile.rules`; those of pools follow. */
export const mapTable = 0

/** Collects the tables of one bundle. Equal lists are stored once. */
export class ClientRangeColumns {
  readonly #tables: number[] = []
  readonly #rows4: number[] = []
  readonly #rows6: number[] = []
  /** List 0 is empty: no preference. */
  readonly #lists: number[] = [0]
  readonly #listOffsets = new Map<string, number>([['', 0]])

  /**
   * @param valuesOf the values of an endpoint in the lists; undefined: the endpoint is left out
   * @returns the row in `networkTable`
   */
  add(
    ranges: ClientRanges,
    valuesOf: (endpoint: string) => number | readonly number[] | undefined,
  ): number {
    const listOf = (endpoints: readonly string[]): number =>
      this.#listOf(endpoints.flatMap((endpoint) => valuesOf(endpoint) ?? []))
    const start4 = this.#rows4.length / Network4Cell.Words
    for (const { start, list } of covering(ranges.v4, 0, 0xffff_ffff, (n) => n + 1, listOf)) {
      this.#rows4.push(start, list)
    }
    const start6 = this.#rows6.length / Network6Cell.Words
    const last6 = (1n << 128n) - 1n
    for (const { start, list } of covering(ranges.v6, 0n, last6, (n) => n + 1n, listOf)) {
      this.#rows6.push(...wordsOf(start), list)
    }
    const count4 = this.#rows4.length / Network4Cell.Words - start4
    const count6 = this.#rows6.length / Network6Cell.Words - start6
    this.#tables.push(start4, count4, start6, count6)
    return this.#tables.length / NetworkCell.Words - 1
  }

  #listOf(values: readonly number[]): number {
    const key = values.join(' ')
    const known = this.#listOffsets.get(key)
    if (known !== undefined) return known
    const offset = this.#lists.length
    this.#lists.push(values.length, ...values)
    this.#listOffsets.set(key, offset)
    return offset
  }

  columns() {
    return {
      networkTable: Uint32Array.from(this.#tables),
      network4: Uint32Array.from(this.#rows4),
      network6: Uint32Array.from(this.#rows6),
      networkList: Uint32Array.from(this.#lists),
    }
  }
}

/** Yields the ranges with gaps filled and neighbours with equal lists joined. */
function* covering<Address extends number | bigint>(
  ranges: readonly ClientRange<Address>[],
  first: Address,
  last: Address,
  next: (address: Address) => Address,
  listOf: (endpoints: readonly string[]) => number,
): Generator<{ readonly start: Address; readonly list: number }> {
  let at = first
  let isFull = false
  let before = -1
  for (const { start, end, endpoints } of ranges) {
    assert(!isFull && start >= at && end >= start && end <= last, 'ranges ascend and are disjoint')
    if (start > at && before !== 0) yield { start: at, list: 0 }
    if (start > at) before = 0
    const list = listOf(endpoints)
    if (list !== before) yield { start, list }
    before = list
    isFull = end === last
    if (!isFull) at = next(end)
  }
  if (!isFull && before !== 0) yield { start: at, list: 0 }
}

function wordsOf(address: bigint): readonly number[] {
  return [96n, 64n, 32n, 0n].map((shift) => Number((address >> shift) & 0xffff_ffffn))
}
