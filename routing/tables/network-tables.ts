// The indexed client networks of a bundle: range tables in one piece of shared memory. What fills
// it: network-index.ts.
import { RangeTable } from './range-table.ts'
import * as layout from './network-layout.ts'

// A constant of this file, for the reason that answer/answer.ts gives.
const { IndexCell } = layout

/** One per thread; taken over with a bundle in no time, however many tables there are. */
export class NetworkTables {
  readonly #directory: Uint32Array
  /** Moved to the table that is asked for. */
  readonly #ranges: RangeTable | null
  /** The last one that was asked for. */
  #table = -1
  #found: RangeTable | null = null

  /** @param memory what `packNetworks` gave; null: no table has an index */
  constructor(memory: SharedArrayBuffer | null) {
    if (memory === null) {
      this.#directory = new Uint32Array(0)
      this.#ranges = null
      return
    }
    const [tables] = new Uint32Array(memory, IndexCell.Tables * 4, 1)
    this.#directory = new Uint32Array(memory, 0, IndexCell.First + tables!)
    this.#ranges = new RangeTable(memory, this.#directory[IndexCell.FirstTable]! * 4)
  }

  /**
   * @param table row of the bundle's `networkTable`
   * @returns its ranges, good until the next call: values are offsets in `networkList`. null: the
   * table has the bundle's rows alone
   */
  rangesOf(table: number): RangeTable | null {
    if (table !== this.#table) this.#moveTo(table)
    return this.#found
  }

  #moveTo(table: number): void {
    this.#table = table
    this.#found = null
    if (this.#ranges === null) return
    const at = this.#directory[IndexCell.First + table]!
    if (at !== 0 && this.#ranges.moveTo(at)) this.#found = this.#ranges
  }
}
