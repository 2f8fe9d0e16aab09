// Columns of rows in, the buffer of a range table out: indexed, and with the groups of its values.
import { assert } from '#lib/assert.ts'
import { addressIndex } from './address-index.ts'
import { fillNodes, groupValues } from './range-groups.ts'
import {
  RangeHeader,
  Row4,
  Row6,
  indexBits4,
  rangeLayout,
  rangeMagic,
  rangeRowsMax,
} from './range-layout.ts'

/** Rows as RangeTable has them: without gaps, from the first address on, neighbours different. */
export interface RangeColumns {
  readonly start4: Uint32Array
  readonly value4: Uint32Array
  /** Two words a row each. */
  readonly high6: Uint32Array
  readonly low6: Uint32Array
  readonly value6: Uint32Array
}

/** @param keyOf of values: near keys, alike for most clients; it matters where there are many */
export function packRangeTable(
  columns: RangeColumns,
  keyOf?: (value: number) => number,
): SharedArrayBuffer {
  const { start4, value4, high6, low6, value6 } = columns
  const [count4, count6] = [value4.length, value6.length]
  assert(count4 + count6 <= rangeRowsMax, 'a range table is within its limit')
  const bits4 = indexBits4(count4)
  const index6 = addressIndex(high6, low6)
  const { groups, groupOf, groupStart, groupValue } = groupValues([value4, value6], keyOf)
  const indexWords6 = index6.length
  const values = groupValue.length
  const at = rangeLayout({ count4, count6, bits4, indexWords6, groups, values })
  const buffer = new SharedArrayBuffer(at.end)
  const header = new Uint32Array(buffer, 0, RangeHeader.Words)
  header[RangeHeader.Magic] = rangeMagic
  header[RangeHeader.Count4] = count4
  header[RangeHeader.Count6] = count6
  header[RangeHeader.IndexBits4] = bits4
  header[RangeHeader.IndexWords6] = indexWords6
  header[RangeHeader.Groups] = groups
  header[RangeHeader.Values] = values
  const put = (words: Uint32Array, offset: number): void => {
    new Uint32Array(buffer, offset, words.length).set(words)
  }
  put(index6, at.index6)
  fillRows4(new Uint32Array(buffer, at.rows4, count4 * Row4.Words), columns)
  fillRows6(new Uint32Array(buffer, at.rows6, count6 * Row6.Words), columns)
  const last6 = new Uint32Array(buffer, at.last6, count6)
  for (let row = 0; row < count6; row++) last6[row] = low6[row * 2 + 1]!
  put(groupStart, at.groupStart)
  put(groupValue, at.groupValue)
  fillIndex4(new Uint32Array(buffer, at.index4, 2 ** bits4 + 1), start4, bits4)
  const group4 = new Uint8Array(buffer, at.group4, count4)
  const group6 = new Uint8Array(buffer, at.group6, count6)
  for (let row = 0; row < count4; row++) group4[row] = groupOf[value4[row]!]!
  for (let row = 0; row < count6; row++) group6[row] = groupOf[value6[row]!]!
  fillNodes(group4, new Uint32Array(buffer, at.nodes4, (at.nodes6 - at.nodes4) / 4), groups)
  fillNodes(group6, new Uint32Array(buffer, at.nodes6, (at.groupStart - at.nodes6) / 4), groups)
  return buffer
}

function fillRows4(rows: Uint32Array, { start4, value4 }: RangeColumns): void {
  for (let row = 0; row < value4.length; row++) {
    rows[row * Row4.Words + Row4.Start] = start4[row]!
    rows[row * Row4.Words + Row4.Value] = value4[row]!
  }
}

function fillRows6(rows: Uint32Array, { high6, low6, value6 }: RangeColumns): void {
  for (let row = 0; row < value6.length; row++) {
    const at = row * Row6.Words
    rows[at] = high6[row * 2]!
    rows[at + 1] = high6[row * 2 + 1]!
    rows[at + 2] = low6[row * 2]!
    rows[at + Row6.Value] = value6[row]!
  }
}

/** Entry b: the last row that begins at or before the first address of bucket b. */
function fillIndex4(index: Uint32Array, starts: Uint32Array, bits: number): void {
  let row = 0
  for (let bucket = 0; bucket < index.length - 1; bucket++) {
    const first = bucket * 2 ** (32 - bits)
    while (row + 1 < starts.length && starts[row + 1]! <= first) row++
    index[bucket] = row
  }
  index[index.length - 1] = starts.length - 1
}
