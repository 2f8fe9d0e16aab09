// Packs columns of rows into the buffer of a range table, with its index and value groups.
import { assert } from '#lib/assert.ts'
import { addressIndex } from './address-index.ts'
import { fillNodes, groupValues } from './range-groups.ts'
import type { ValueGroups } from './range-groups.ts'
import {
  RangeHeader,
  Row4,
  Row6,
  indexBits4,
  rangeLayout,
  rangeMagic,
  rangeRowsMax,
} from './range-layout.ts'
import type { RangeCounts, RangeLayout } from './range-layout.ts'

/** Rows as RangeTable needs them: without gaps, from the first address on, neighbours different. */
export interface RangeColumns {
  readonly start4: Uint32Array
  readonly value4: Uint32Array
  /** Two words a row each. */
  readonly high6: Uint32Array
  readonly low6: Uint32Array
  readonly value6: Uint32Array
}

/** A table ready to be written, and its size. */
interface RangePlan {
  readonly bytes: number
  /** @param byteOffset target offset, a multiple of 64 */
  readonly write: (buffer: SharedArrayBuffer, byteOffset: number) => void
}

/** @param keyOf see `planRangeTable` */
export function packRangeTable(
  columns: RangeColumns,
  keyOf?: (value: number) => number,
): SharedArrayBuffer {
  const { bytes, write } = planRangeTable(columns, keyOf)
  const buffer = new SharedArrayBuffer(bytes)
  write(buffer, 0)
  return buffer
}

/**
 * @param keyOf key of a value: near for values that are alike for most clients; matters when there
 * are many
 */
export function planRangeTable(
  columns: RangeColumns,
  keyOf?: (value: number) => number,
): RangePlan {
  const { start4, value4, high6, low6, value6 } = columns
  const [count4, count6] = [value4.length, value6.length]
  assert(count4 + count6 <= rangeRowsMax, 'a range table is within its limit')
  const index6 = addressIndex(high6, low6)
  const valueGroups = groupValues([value4, value6], keyOf)
  const { groups, groupValue } = valueGroups
  const counts = {
    count4,
    count6,
    bits4: indexBits4(count4),
    indexWords6: index6.length,
    groups,
    values: groupValue.length,
  }
  const at = rangeLayout(counts)
  const write = (buffer: SharedArrayBuffer, byteOffset: number): void => {
    // Cleared first: nodes are set bit by bit, and the memory may be reused.
    new Uint8Array(buffer, byteOffset, at.end).fill(0)
    fillHeader(new Uint32Array(buffer, byteOffset, RangeHeader.Words), counts, at)
    const words = (offset: number, length: number): Uint32Array =>
      new Uint32Array(buffer, byteOffset + offset, length)
    words(at.index6, index6.length).set(index6)
    fillRows4(words(at.rows4, count4 * Row4.Words), columns)
    fillRows6(words(at.rows6, count6 * Row6.Words), columns)
    const last6 = words(at.last6, count6)
    for (let row = 0; row < count6; row++) last6[row] = low6[row * 2 + 1]!
    fillIndex4(words(at.index4, 2 ** counts.bits4 + 1), start4, counts.bits4)
    fillGroups({ buffer, byteOffset, at, valueGroups, columns })
  }
  return { bytes: at.end, write }
}

function fillHeader(
  header: Uint32Array,
  { count4, count6, bits4, groups, values }: RangeCounts,
  at: RangeLayout,
): void {
  header[RangeHeader.Magic] = rangeMagic
  header[RangeHeader.Count4] = count4
  header[RangeHeader.Count6] = count6
  header[RangeHeader.IndexBits4] = bits4
  header[RangeHeader.Groups] = groups
  header[RangeHeader.Values] = values
  header[RangeHeader.Index4] = at.index4 / 4
  header[RangeHeader.Rows4] = at.rows4 / 4
  header[RangeHeader.Index6] = at.index6 / 4
  header[RangeHeader.Rows6] = at.rows6 / 4
  header[RangeHeader.Last6] = at.last6 / 4
  header[RangeHeader.Group4] = at.group4 / 4
  header[RangeHeader.Group6] = at.group6 / 4
  header[RangeHeader.Nodes4] = at.nodes4 / 4
  header[RangeHeader.Nodes6] = at.nodes6 / 4
  header[RangeHeader.GroupStart] = at.groupStart / 4
  header[RangeHeader.GroupValue] = at.groupValue / 4
  header[RangeHeader.End] = at.end / 4
}

function fillGroups(to: {
  readonly buffer: SharedArrayBuffer
  readonly byteOffset: number
  readonly at: RangeLayout
  readonly valueGroups: ValueGroups
  readonly columns: RangeColumns
}): void {
  const { buffer, byteOffset, at, columns } = to
  const { groups, groupOf, groupStart, groupValue } = to.valueGroups
  const words = (offset: number, end: number): Uint32Array =>
    new Uint32Array(buffer, byteOffset + offset, (end - offset) / 4)
  words(at.groupStart, at.groupStart + groupStart.byteLength).set(groupStart)
  words(at.groupValue, at.groupValue + groupValue.byteLength).set(groupValue)
  const families = [
    [columns.value4, at.group4, words(at.nodes4, at.nodes6)],
    [columns.value6, at.group6, words(at.nodes6, at.groupStart)],
  ] as const
  for (const [values, offset, nodes] of families) {
    const group = new Uint8Array(buffer, byteOffset + offset, values.length)
    for (let row = 0; row < values.length; row++) group[row] = groupOf[values[row]!]!
    fillNodes(group, nodes, groups)
  }
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
