// Reads the value groups of a range table: those of a row, and those below a tree node.
import * as layout from './range-layout.ts'

// Constants of this file, for the reason that answer/answer.ts gives.
const { nodeShift, rangeLevelsMax } = layout

/** Looks at one table after another of the same memory. */
export class RowGroups {
  rows = 0
  /** A bit for each group below a node, `words` of 32 a node; the first node's at `nodesAt`. */
  readonly nodes: Int32Array
  nodesAt = 0
  words = 0
  /** The level of the node that is above all rows; rows are level 0. */
  top = 0
  /** By row, from `#groupAt` on. */
  readonly #group: Uint8Array
  #groupAt = 0
  /** By level: how many nodes are on the levels before it. */
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
