// Reads the value groups of a range table: those of a row, and those below a tree node.
import * as layout from './range-layout.ts'

// Local constants are faster than imports: see answer/answer.ts.
const { nodeShift, rangeLevelsMax } = layout

/** Can be moved from table to table of the same memory. */
export class RowGroups {
  rows = 0
  /**
   * A bit for each group below a node, `words` of 32 per node; the first node's are at `nodesAt`.
   */
  readonly nodes: Int32Array
  nodesAt = 0
  words = 0
  /** The level of the root; rows are level 0. */
  top = 0
  /** By row, from `#groupAt` on. */
  readonly #group: Uint8Array
  #groupAt = 0
  /** By level: number of nodes on the levels before it. */
  readonly #levelStart = new Uint32Array(rangeLevelsMax + 1)

  constructor(group: Uint8Array, nodes: Int32Array) {
    this.#group = group
    this.nodes = nodes
  }

  /** @param groupAt in octets; `nodesAt` in words */
  moveTo(rows: number, groups: number, groupAt: number, nodesAt: number): void {
    this.rows = rows
    this.words = (groups + 31) >>> 5
    this.#groupAt = groupAt
    this.nodesAt = nodesAt
    let count = rows
    let start = 0
    let level = 0
    do {
      count = (count + (1 << nodeShift) - 1) >>> nodeShift
      this.#levelStart[++level] = start
      start += count
    } while (count > 1)
    this.top = level
  }

  groupOf(row: number): number {
    return this.#group[this.#groupAt + row]!
  }

  /** The node that the row is below. @param level from 1 on */
  nodeOf(level: number, row: number): number {
    return this.#levelStart[level]! + (row >>> (level * nodeShift))
  }
}
