// The pools of one bundle, laid out from those of the last one.
import { assert } from '#lib/assert.ts'
import { address6Row } from './bundle.ts'
import { ClientRangeColumns, mapTable } from './client-ranges.ts'
import { hasExtra, MemberExtraRows, renumberExtra } from './member-extra.ts'
import type { BundleModel, MemberModel, PoolModel, RoutingModel } from './model.ts'
import { emptyPoolColumns, poolRow, writePool } from './pool-columns.ts'
import type { PoolColumns, PoolRow } from './pool-columns.ts'
import type { EndpointTable } from './routing-columns.ts'
import { RowMemory } from './rows.ts'
import type { Rows } from './rows.ts'
import type { AskedTexts, StringTable } from './string-table.ts'

/** What the pools of a bundle take. */
export interface PoolTables {
  readonly columns: PoolColumns & { readonly memberExtra: Uint32Array }
  /** The row of the pool at each position of the model. */
  readonly indexOfPool: Uint32Array
  /** The rules of `mapFile` and those of pools. */
  readonly ranges: ReturnType<ClientRangeColumns['columns']>
}

interface LaidOut {
  readonly tables: PoolTables
  /** Where each row began to ask for texts, and where the last one ended. */
  readonly askedFrom: Uint32Array
}

interface LastPools extends LaidOut {
  readonly rows: Rows<PoolRow>
  readonly routing: RoutingModel
  readonly asked: AskedTexts
}

/** Most changes are about something else, or about one pool of many. */
export class PoolMemory {
  readonly #rows = new RowMemory<PoolModel, PoolRow>()
  #last: LastPools | undefined

  /** What comes back is not to be written to. @param strings was not asked for anything yet */
  tables(
    { pools, routing }: BundleModel,
    endpoints: EndpointTable,
    strings: StringTable,
  ): PoolTables {
    const rows = this.#rows.rowsOf(pools, poolRow)
    const subject = { pools, rows, routing, endpoints, strings }
    const last = this.#last
    const isKnown = last?.routing === routing && strings.knows(last.asked)
    const laidOut = (isKnown ? editedFrom(last, subject) : undefined) ?? laidOutAnew(subject)
    this.#last = { rows, routing, asked: strings.mark(), ...laidOut }
    return laidOut.tables
  }
}

interface Subject {
  readonly pools: readonly PoolModel[]
  readonly rows: Rows<PoolRow>
  readonly routing: RoutingModel
  readonly endpoints: EndpointTable
  readonly strings: StringTable
}

function laidOutAnew({ pools, rows, routing, endpoints, strings }: Subject): LaidOut {
  const ranges = new ClientRangeColumns()
  const mapTableRow = ranges.add(routing.mapRules, (endpoint) => endpoints.rowOf(endpoint))
  assert(mapTableRow === mapTable, 'the map rules come first')
  const columns = emptyPoolColumns(rows.uids, rows.rows)
  const extra = new MemberExtraRows(strings)
  const askedFrom = new Uint32Array(pools.length + 1)
  const place = { pool: 0, member: 0, address6: 0 }
  for (; place.pool < pools.length; place.pool++) {
    const pool = pools[rows.positions[place.pool]!]!
    const row = rows.rows[place.pool]!
    askedFrom[place.pool] = strings.begin()
    writePool(columns, place, pool, row, { strings, endpoints, extra })
    columns.poolNetworks[place.pool] = networksOf(pool, row.members, place.member, ranges)
    place.member += row.members.length
    place.address6 += row.members.length - row.count4
  }
  askedFrom[pools.length] = strings.begin()
  const withExtra = { ...columns, memberExtra: extra.column() }
  const tables = { columns: withExtra, indexOfPool: rows.rowAt, ranges: ranges.columns() }
  return { tables, askedFrom }
}

/** @returns undefined when other pools than those that changed would have to be written, too */
function editedFrom(last: LastPools, subject: Subject): LaidOut | undefined {
  const { pools, rows, endpoints, strings } = subject
  if (rows.positions !== last.rows.positions) return undefined
  const changed: number[] = []
  for (let i = 0; i < rows.rows.length; i++) {
    if (rows.rows[i] === last.rows.rows[i]) continue
    const pool = pools[rows.positions[i]!]!
    if (!isAlike(pool, rows.rows[i]!, last, i)) return undefined
    changed.push(i)
  }
  if (changed.length === 0) {
    strings.repeat(0, last.asked.count)
    return last
  }
  const columns = copyOf(last.tables.columns)
  const parts = { strings, endpoints, extra: new MemberExtraRows(strings) }
  const askedFrom = new Uint32Array(last.askedFrom.length)
  let next = 0
  for (const index of [...changed, pools.length]) {
    const shift = strings.begin() - last.askedFrom[next]!
    for (let i = next; i <= index; i++) askedFrom[i] = last.askedFrom[i]! + shift
    strings.repeat(last.askedFrom[next]!, last.askedFrom[index]!)
    if (index === pools.length) break
    const place = placeOf(columns, index)
    writePool(columns, place, pools[rows.positions[index]!]!, rows.rows[index]!, parts)
    next = index + 1
  }
  renumberTexts(columns, changed, strings.renumbering())
  const tables = { columns, indexOfPool: rows.rowAt, ranges: last.tables.ranges }
  return { tables, askedFrom }
}

/** Does the pool take the place of the one before it, and leave those of all others alone? */
function isAlike({ geoRules }: PoolModel, row: PoolRow, last: LastPools, index: number): boolean {
  const before = last.rows.rows[index]!
  const hasNetworks = geoRules.v4.length + geoRules.v6.length > 0
  if (hasNetworks || last.tables.columns.poolNetworks[index] !== 0) return false
  if (row.count4 !== before.count4 || row.members.length !== before.members.length) return false
  return ![...row.members, ...before.members].some(({ member }) => hasExtra(member))
}

function copyOf(columns: PoolTables['columns']): PoolTables['columns'] {
  const copies = Object.entries(columns).map(([name, column]) => [name, column.slice()] as const)
  return Object.fromEntries(copies) as unknown as PoolTables['columns']
}

function placeOf(columns: PoolTables['columns'], pool: number) {
  const member = columns.poolMemberStart[pool]!
  const has6 = columns.poolCount6[pool]! > 0
  const address6 = has6 ? address6Row(columns, member + columns.poolCount4[pool]!) : 0
  return { pool, member, address6 }
}

/** @param changed rows that have the new numbers already. @param numbers undefined: all stay */
function renumberTexts(
  columns: PoolTables['columns'],
  changed: readonly number[],
  numbers: Uint32Array | undefined,
): void {
  if (numbers === undefined) return
  const { poolName, poolTenant, poolHealthCheck, poolMemberStart } = columns
  let start = 0
  for (const end of [...changed, poolName.length]) {
    for (const column of [poolName, poolTenant, poolHealthCheck]) {
      for (let i = start; i < end; i++) column[i] = numbers[column[i]!]!
    }
    const memberEnd = poolMemberStart[end] ?? columns.memberPool.length
    const memberStart = poolMemberStart[start] ?? memberEnd
    for (const column of [columns.memberName, columns.memberRegion]) {
      for (let i = memberStart; i < memberEnd; i++) column[i] = numbers[column[i]!]!
    }
    start = end + 1
  }
  renumberExtra(columns.memberExtra, numbers)
}

/** The table of a pool's geo rules, row + 1; 0: it has none. Their lists hold member indices. */
function networksOf(
  { geoRules }: PoolModel,
  members: readonly { readonly member: MemberModel }[],
  firstRow: number,
  ranges: ClientRangeColumns,
): number {
  if (geoRules.v4.length + geoRules.v6.length === 0) return 0
  const rows = new Map<string, number>()
  for (const [i, { member }] of members.entries()) {
    if (!rows.has(member.ipAddress)) rows.set(member.ipAddress, firstRow + i)
  }
  return ranges.add(geoRules, (endpoint) => rows.get(endpoint)) + 1
}
