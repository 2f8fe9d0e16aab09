// Groups the values of a range table, and builds a tree that tells which groups occur below each
// node. Reading one node covers up to half a million rows.
import { nodeShift, nodeWords, nodesByLevel } from './range-layout.ts'

/** A group number is an octet. Up to this many distinct values each have their own group. */
const groupsMax = 256

export interface ValueGroups {
  readonly groups: number
  /** By value. */
  readonly groupOf: Uint8Array
  /** As in RangeLayout. */
  readonly groupStart: Uint32Array
  readonly groupValue: Uint32Array
}

/**
 * @param columns values of rows
 * @param keyOf values with near keys share a group when there are too many; default: the value
 */
export function groupValues(
  columns: readonly Uint32Array[],
  keyOf: (value: number) => number = (value) => value,
): ValueGroups {
  let most = 0
  for (const column of columns) for (const value of column) if (value > most) most = value
  const isThere = new Uint8Array(most + 1)
  for (const column of columns) for (const value of column) isThere[value] = 1
  const values: number[] = []
  for (let value = 0; value <= most; value++) if (isThere[value] === 1) values.push(value)
  if (values.length > groupsMax) {
    const keys = new Map(values.map((value) => [value, keyOf(value)] as const))
    values.sort((a, b) => Number(b === 0) - Number(a === 0) || keys.get(a)! - keys.get(b)!)
  }
  const groups = Math.min(values.length, groupsMax)
  const groupOf = new Uint8Array(most + 1)
  const groupStart = new Uint32Array(groups + 1)
  // Value 0, unknown, is a group of its own.
  const alone = values[0] === 0 ? 1 : 0
  for (const [rank, value] of values.entries()) {
    const share = (rank - alone) / Math.max(1, values.length - alone)
    const group = rank < alone ? 0 : alone + Math.floor(share * (groups - alone))
    groupOf[value] = group
    groupStart[group + 1] = rank + 1
  }
  return { groups, groupOf, groupStart, groupValue: Uint32Array.from(values) }
}

/**
 * @param group by row;
 * @param nodes zeros, as many as the levels above so many rows need
 */
export function fillNodes(group: Uint8Array, nodes: Uint32Array, groups: number): void {
  const words = nodeWords(groups)
  for (let row = 0; row < group.length; row++) {
    nodes[(row >>> nodeShift) * words + (group[row]! >>> 5)]! |= 1 << (group[row]! & 31)
  }
  let from = 0
  for (const count of nodesByLevel(group.length)) {
    const above = from + count * words
    if (count === 1) return
    for (let node = 0; node < count; node++) {
      for (let word = 0; word < words; word++) {
        nodes[above + (node >>> nodeShift) * words + word]! |= nodes[from + node * words + word]!
      }
    }
    from = above
  }
}
