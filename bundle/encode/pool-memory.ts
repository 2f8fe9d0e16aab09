// Lays out the pools of a bundle; where no pool changed, the tables of the last bundle are reused.
import { assert } from '#lib/assert.ts'
import { ClientRangeColumns, mapTable } from '#bundle/format/client-ranges.ts'
import { MemberExtraRows } from '#bundle/format/member-extra.ts'
import type { BundleModel, MemberModel, PoolModel, RoutingModel } from '#bundle/format/model.ts'
import { advance, emptyPoolColumns, poolRow, writePool } from './pool-columns.ts'
import type { PoolRow } from './pool-columns.ts'
import { copyRun, runLeast } from './pool-run.ts'
import type { PoolRun } from './pool-run.ts'
import { HostnameRows } from './hostname-rows.ts'
import type { EndpointTable } from './routing-columns.ts'
import { RowMemory } from './rows.ts'
import type { Rows } from './rows.ts'
import type { AskedTexts, StringTable } from '#bundle/format/string-table.ts'

/** All tables that the pools of a bundle fill. */
type PoolTables = ReturnType<typeof laidOut>

interface LastPools {
  readonly tables: PoolTables
  readonly rows: Rows<PoolRow>
  readonly routing: RoutingModel
  readonly asked: AskedTexts
}

/** Reuses the tables of pools, since most changes concern something else. */
export class PoolMemory {
  readonly #rows = new RowMemory<PoolModel, PoolRow>()
  #last: LastPools | undefined

  /**
   * @param strings nothing was requested from it yet
   * @returns tables that must not be written to
   */
  tables(
    { pools, routing }: BundleModel,
    endpoints: EndpointTable,
    strings: StringTable,
  ): PoolTables {
    const rows = this.#rows.rowsOf(pools, poolRow)
    const last = this.#last
    const isAlike = last?.routing === routing && strings.follows(last.asked)
    const isSame = isAlike && last.rows === rows && strings.repeat(last.asked)
    const subject = { pools, rows, routing, endpoints, strings }
    const tables = isSame ? last.tables : laidOut(subject, isAlike ? last : undefined)
    this.#last = { tables, rows, routing, asked: strings.askedSince(0) }
    return tables
  }
}

interface Subject {
  readonly pools: readonly PoolModel[]
  readonly rows: Rows<PoolRow>
  readonly routing: RoutingModel
  readonly endpoints: EndpointTable
  readonly strings: StringTable
}

/** @param last its routing is the same, and `strings` follows it */
function laidOut({ pools, rows, routing, endpoints, strings }: Subject, last?: LastPools) {
  const ranges = new ClientRangeColumns()
  const mapTableRow = ranges.add(routing.mapRules, (endpoint) => endpoints.rowOf(endpoint))
  assert(mapTableRow === mapTable, 'the map rules come first')
  const end = { pool: 0, member: 0, address6: 0 }
  // Counted loops: with thousands of rows, `for of` allocates an object for each until it is
  // optimised.
  for (let i = 0; i < rows.rows.length; i++) advance(end, rows.rows[i]!)
  const columns = emptyPoolColumns(rows.uids, end)
  const extra = new MemberExtraRows(strings)
  const hostnames = new HostnameRows()
  const runs = last === undefined ? [] : plainRuns(last.rows, rows)
  const place = { pool: 0, member: 0, address6: 0 }
  while (place.pool < rows.rows.length) {
    const run = runs[0]
    if (run?.to === place.pool) {
      copyRun(columns, place, last!.tables.columns, run, strings)
      runs.shift()
      continue
    }
    const i = place.pool
    const row = rows.rows[i]!
    const pool = pools[rows.positions[i]!]!
    writePool(columns, place, pool, row, { strings, endpoints, extra, hostnames })
    if (row.hasGeoRules) {
      columns.poolNetworks[i] = networksOf(pool, row.members, place.member, ranges)
    }
    advance(place, row)
  }
  return {
    columns: { ...columns, memberExtra: extra.column(), ...hostnames.columns() },
    /** The row of the pool at each position of the model. */
    indexOfPool: rows.rowAt,
    /** The rules of `mapFile` and those of pools. */
    ranges: ranges.columns(),
  }
}

/** Finds the plain pools that are the same in both, where many stand side by side. */
function plainRuns(last: Rows<PoolRow>, now: Rows<PoolRow>): PoolRun[] {
  const runs: PoolRun[] = []
  let at = 0
  for (let row = 0; row < now.rows.length;) {
    while (
      at < last.rows.length &&
      last.rows[at] !== now.rows[row] &&
      isBefore(last, at, now, row)
    ) {
      at++
    }
    const [from, to] = [at, row]
    while (row < now.rows.length && last.rows[at] === now.rows[row] && now.rows[row]!.isPlain) {
      at++
      row++
    }
    const count = row - to
    if (count >= runLeast) runs.push({ from, to, count })
    if (count === 0) row++
  }
  return runs
}

/** Whether the uid of the one row sorts before that of the other. */
function isBefore<Row>(a: Rows<Row>, at: number, b: Rows<Row>, row: number): boolean {
  for (let i = 0; i < 16; i++) {
    const difference = a.uids[at * 16 + i]! - b.uids[row * 16 + i]!
    if (difference !== 0) return difference < 0
  }
  return false
}

/** Returns the table of a pool's geo rules, row + 1. Their lists hold member indices. */
function networksOf(
  pool: PoolModel,
  members: readonly { readonly member: MemberModel }[],
  firstRow: number,
  ranges: ClientRangeColumns,
): number {
  const rows = new Map<string, number[]>()
  for (const [i, { member }] of members.entries()) {
    const known = rows.get(member.ipAddress || member.hostname)
    if (known === undefined) rows.set(member.ipAddress || member.hostname, [firstRow + i])
    else if (member.hostname !== '') known.push(firstRow + i)
  }
  return ranges.add(pool.geoRules, (endpoint) => rows.get(endpoint)) + 1
}
