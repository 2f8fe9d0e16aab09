// A first-level index into the client networks of a bundle: where a binary search starts.
import { Network4Cell, NetworkCell } from '#bundle/client-ranges.ts'
import type { Bundle } from '#bundle/bundle.ts'

/**
 * By table, at the beginning: where its entries start, 0 for a table that has none, and by how much
 * an address is shifted to choose one. An entry is the row of the first address with these bits.
 */
export const IndexCell = { Words: 2, Start: 0, Shift: 1 } as const

/** With fewer rows a search is as fast without. */
const rowsMin = 256
const indexBitsMax = 16

/** @returns undefined when no table of the bundle is worth it */
export function networkIndex({ networkTable, network4 }: Bundle): SharedArrayBuffer | undefined {
  const tables = networkTable.length / NetworkCell.Words
  const bitsOf = (table: number): number => {
    const rows = networkTable[table * NetworkCell.Words + NetworkCell.Count4]!
    return rows < rowsMin ? 0 : Math.min(32 - Math.clz32(rows), indexBitsMax)
  }
  let words = tables * IndexCell.Words
  for (let table = 0; table < tables; table++)
    if (bitsOf(table) > 0) words += 2 ** bitsOf(table) + 1
  if (words === tables * IndexCell.Words) return undefined
  const index = new Uint32Array(new SharedArrayBuffer(words * 4))
  let at = tables * IndexCell.Words
  for (let table = 0; table < tables; table++) {
    const bits = bitsOf(table)
    if (bits === 0) continue
    index[table * IndexCell.Words + IndexCell.Start] = at
    index[table * IndexCell.Words + IndexCell.Shift] = 32 - bits
    let row = networkTable[table * NetworkCell.Words + NetworkCell.Start4]!
    const last = row + networkTable[table * NetworkCell.Words + NetworkCell.Count4]! - 1
    for (let bucket = 0; bucket < 2 ** bits; bucket++) {
      const first = bucket * 2 ** (32 - bits)
      while (row < last && network4[(row + 1) * Network4Cell.Words]! <= first) row++
      index[at++] = row
    }
    index[at++] = last
  }
  return index.buffer
}
