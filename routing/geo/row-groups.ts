// The groups of values below the rows of one address family, and below the nodes above them.
import { nodeShift, nodeWords, nodesByLevel } from './range-layout.ts'

export class RowGroups {
  readonly rows: number
  /** By row. */
  readonly group: Uint8Array
  /** A bit for each group below a node, `words` of 32 a node. */
  readonly nodes: Int32Array
  readonly words: number
  /** The level of the node that is above all rows; rows are level 0. */
  readonly top: number
  /** By level: how many nodes are on the levels before it. */
  readonly #levelStart: Uint32Array

  constructor(group: Uint8Array, nodes: Uint32Array, groups: number) {
    const counts = nodesByLevel(group.length)
    this.rows = group.length
    this.words = nodeWords(groups)
    this.top = counts.length
    this.#levelStart = new Uint32Array(counts.length + 1)
    let at = 0
    for (const [i, count] of counts.entries()) {
      this.#levelStart[i + 1] = at
      at += count
    }
    this.group = group
    this.nodes = new Int32Array(nodes.buffer, nodes.byteOffset, nodes.length)
  }

  /** The node that the row is below. @param level from 1 on */
  nodeOf(level: number, row: number): number {
    return this.#levelStart[level]! + (row >>> (level * nodeShift))
  }
}
