// Derives a range table with other values from an existing one; equal neighbours are merged.
import { packRangeTable } from './range-pack.ts'
import type { RangeTable } from './range-table.ts'

/** @param valueOf by value of the table; 0 stays 0 */
export function deriveRangeTable(table: RangeTable, valueOf: Uint32Array): SharedArrayBuffer {
  const { count4, count6 } = table
  const start4 = new Uint32Array(count4)
  const value4 = new Uint32Array(count4)
  let rows4 = 0
  for (let row = 0; row < count4; row++) {
    const value = valueOf[table.value4(row)]!
    if (rows4 > 0 && value4[rows4 - 1] === value) continue
    start4[rows4] = table.start4(row)
    value4[rows4++] = value
  }
  const high6 = new Uint32Array(count6 * 2)
  const low6 = new Uint32Array(count6 * 2)
  const value6 = new Uint32Array(count6)
  let rows6 = 0
  for (let row = 0; row < count6; row++) {
    const value = valueOf[table.value6(row)]!
    if (rows6 > 0 && value6[rows6 - 1] === value) continue
    for (let word = 0; word < 2; word++) {
      high6[rows6 * 2 + word] = table.start6(row, word)
      low6[rows6 * 2 + word] = table.start6(row, word + 2)
    }
    value6[rows6++] = value
  }
  return packRangeTable({
    start4: start4.subarray(0, rows4),
    value4: value4.subarray(0, rows4),
    high6: high6.subarray(0, rows6 * 2),
    low6: low6.subarray(0, rows6 * 2),
    value6: value6.subarray(0, rows6),
  })
}
