// The indexed client networks of a bundle: range tables in one piece of shared memory.
// network-index.ts fills it.
import { RangeTable } from './range-table.ts'
import * as layout from './network-layout.ts'

// Local constants are faster than imports: see answer/answer.ts.
const { IndexCell } = layout

/** One per thread; switching bundles takes no time, however many tables there are. */
export class NetworkTables {
  readonly #directory: Uint32Array
  /** Moved to the requested table. */
  readonly #ranges: RangeTable | null
  /** The table requested last. */
  #table = -1
  #found: RangeTable | null = null

  /** @param memory result of `packNetworks`; null: no table has an index */
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
   * @returns its ranges, valid until the next call: values are offsets in `networkList`. null: the
   * table only has the bundle's rows
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
