// Copies the rows of pools that are as they were from the columns of the last bundle.
import { sectionNames, sectionSpecs } from '#bundle/format/format.ts'
import type { NameOfRows } from '#bundle/format/format.ts'
import { writeAddress6Row } from './pool-columns.ts'
import type { PoolColumns, PoolPlace } from './pool-columns.ts'
import { copyOctets } from './rows.ts'
import type { StringTable } from '#bundle/format/string-table.ts'

/** Pools that stand side by side in two bundles, each the same object in both. */
export interface PoolRun {
  /** The first row in the last bundle. */
  readonly from: number
  /** The first row in this one. */
  readonly to: number
  readonly count: number
}

/** A run of fewer pools costs more than writing them. */
export const runLeast = 8

function namesOfRows<Rows extends 'pools' | 'members'>(rows: Rows): readonly NameOfRows<Rows>[] {
  return sectionNames.filter((name) => sectionSpecs[name].rows === rows) as NameOfRows<Rows>[]
}
const poolNames = namesOfRows('pools').filter((name) => name !== 'poolUid')
const memberNames = namesOfRows('members')

/**
 * Writes the rows of a run, and advances `place` behind it. Its pools are plain: no row of theirs
 * stands in another table than these.
 *
 * @param strings follows the table of `last`
 */
export function copyRun(
  columns: PoolColumns,
  place: PoolPlace,
  last: PoolColumns,
  { from, count }: PoolRun,
  strings: StringTable,
): void {
  const { pool, member, address6 } = place
  const end = from + count
  const first = last.poolMemberStart[from]!
  const behind = memberEnd(last, end - 1)
  for (const name of poolNames) copyRows(columns[name], pool, last[name], from, end)
  for (const name of memberNames) {
    const { width } = sectionSpecs[name]
    copyRows(columns[name], member * width, last[name], first * width, behind * width)
  }
  const shift = member - first
  let row6 = address6
  for (let i = 0; i < count; i++) {
    const at = pool + i
    columns.poolName[at] = strings.again(last.poolName[from + i]!)
    columns.poolTenant[at] = strings.again(last.poolTenant[from + i]!)
    columns.poolHealthCheck[at] = strings.again(last.poolHealthCheck[from + i]!)
    const start = last.poolMemberStart[from + i]! + shift
    const start6 = start + columns.poolCount4[at]!
    const stop = start6 + columns.poolCount6[at]!
    columns.poolMemberStart[at] = start
    for (let row = start; row < stop; row++) {
      columns.memberPool[row] = at
      columns.memberName[row] = strings.again(columns.memberName[row]!)
      columns.memberRegion[row] = strings.again(columns.memberRegion[row]!)
      if (row < start6) continue
      const octets = address6Start(last, row - shift)
      copyOctets(columns.memberAddress6, row6 * 16, last.memberAddress6, octets, 16)
      writeAddress6Row(columns, row, row6++)
    }
  }
  place.pool += count
  place.member += behind - first
  place.address6 = row6
}

type Column = Uint8Array | Uint16Array | Uint32Array | Int32Array

function copyRows(column: Column, at: number, last: Column, from: number, end: number): void {
  column.set(last.subarray(from, end), at)
}

function memberEnd({ poolMemberStart, poolCount4, poolCount6 }: PoolColumns, row: number): number {
  return poolMemberStart[row]! + poolCount4[row]! + poolCount6[row]!
}

/** Where the octets of an IPv6 address stand: the counterpart of `writeAddress6Row`. */
function address6Start({ memberAddress }: PoolColumns, member: number): number {
  let row = 0
  for (let i = 0; i < 4; i++) row = row * 256 + memberAddress[member * 4 + i]!
  return row * 16
}
