// Lays out the pools of a bundle, with the layout of the last one reused for pools that did not
// change.
import { assert } from '#lib/assert.ts'
import { editsOf } from '#lib/list-edits.ts'
import type { ListEdits } from '#lib/list-edits.ts'
import { ClientRangeColumns, mapTable, NetworkCell } from '#bundle/format/client-ranges.ts'
import { hasExtra, MemberExtraRows } from '#bundle/format/member-extra.ts'
import type { BundleModel, MemberModel, PoolModel, RoutingModel } from '#bundle/format/model.ts'
import { advance, emptyPoolColumns, poolRow, writePool } from './pool-columns.ts'
import type { PoolPlace, PoolRow } from './pool-columns.ts'
import { PoolCopy } from './pool-copy.ts'
import type { PoolSpan, WholePoolColumns } from './pool-copy.ts'
import { HostnameRows } from './hostname-rows.ts'
import type { EndpointTable } from './routing-columns.ts'
import { RowMemory } from './rows.ts'
import type { Rows } from './rows.ts'
import type { AskedTexts, StringTable } from '#bundle/format/string-table.ts'

/** What the pools of a bundle take. */
export interface PoolTables {
  readonly columns: WholePoolColumns
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
  const end = { pool: 0, member: 0, address6: 0 }
  for (const row of rows.rows) advance(end, row)
  const columns = emptyPoolColumns(rows.uids, end)
  const extra = new MemberExtraRows(strings)
  const hostnames = new HostnameRows()
  const askedFrom = new Uint32Array(pools.length + 1)
  const place = { pool: 0, member: 0, address6: 0 }
  for (const row of rows.rows) {
    const pool = pools[rows.positions[place.pool]!]!
    askedFrom[place.pool] = strings.begin()
    writePool(columns, place, pool, row, { strings, endpoints, extra, hostnames })
    columns.poolNetworks[place.pool] = networksOf(pool, row.members, place.member, ranges)
    advance(place, row)
  }
  askedFrom[pools.length] = strings.begin()
  const whole = { ...columns, memberExtra: extra.column(), ...hostnames.columns() }
  const tables = { columns: whole, indexOfPool: rows.rowAt, ranges: ranges.columns() }
  return { tables, askedFrom }
}

/** @returns undefined when all have to be laid out anew */
function editedFrom(last: LastPools, subject: Subject): LaidOut | undefined {
  const { pools, rows, endpoints, strings } = subject
  if (rows === last.rows) {
    strings.repeat(0, last.asked.count)
    return last
  }
  const edits = editsOf(last.rows.rows, rows.rows)
  if (edits === undefined || !isPlain(edits, last, subject)) return undefined
  const copy = new PoolCopy(
    last.tables.columns,
    emptyPoolColumns(rows.uids, endOf(edits, last, rows)),
  )
  const askedFrom = new Uint32Array(pools.length + 1)
  const hostnames = new HostnameRows()
  const parts = { strings, endpoints, extra: new MemberExtraRows(strings), hostnames }
  const { place } = copy
  for (const span of spansOf(edits, pools.length)) {
    while (place.pool < span.to) {
      const row = rows.rows[place.pool]!
      askedFrom[place.pool] = strings.begin()
      writePool(copy.columns, place, pools[rows.positions[place.pool]!]!, row, parts)
      advance(place, row)
    }
    const start = last.askedFrom[span.from]!
    const shift = strings.begin() - start
    const end = span.from + span.count
    for (let i = 0; i <= span.count; i++) {
      askedFrom[span.to + i] = last.askedFrom[span.from + i]! + shift
    }
    strings.repeat(start, last.askedFrom[end]!)
    copy.take(span)
  }
  const columns = copy.finish(strings.renumbering())
  return { tables: { columns, indexOfPool: rows.rowAt, ranges: last.tables.ranges }, askedFrom }
}

/**
 * Do the networks, the extra rows and the host names of those that stay, stay too? Nobody else may
 * have any.
 */
function isPlain({ went, came }: ListEdits, last: LastPools, { pools, rows }: Subject): boolean {
  const gone = went.map((row) => last.rows.rows[row]!)
  const made = came.map((row) => rows.rows[row]!)
  const isMore = ({ member }: PoolRow['members'][number]): boolean =>
    hasExtra(member) || member.hostname !== ''
  if ([...gone, ...made].some(({ members }) => members.some(isMore))) return false
  // Lists of networks hold indices of members.
  const { networkTable } = last.tables.ranges
  const hasLists = networkTable.length > NetworkCell.Words
  const hasRules = came.some((row) => hasGeoRules(pools[rows.positions[row]!]!))
  return !hasLists && !hasRules
}

/** How many rows there will be. */
function endOf({ went, came }: ListEdits, last: LastPools, rows: Rows<PoolRow>): PoolPlace {
  const { memberPool, memberAddress6 } = last.tables.columns
  const end = { pool: 0, member: memberPool.length, address6: memberAddress6.length / 16 }
  const gone = { pool: 0, member: 0, address6: 0 }
  for (const row of went) advance(gone, last.rows.rows[row]!)
  for (const row of came) advance(end, rows.rows[row]!)
  return {
    pool: rows.rows.length,
    member: end.member - gone.member,
    address6: end.address6 - gone.address6,
  }
}

/** The runs of rows that stay side by side, and one of none at the end. */
function spansOf({ moved }: ListEdits, count: number): PoolSpan[] {
  const spans: PoolSpan[] = []
  for (let from = 0; from < moved.length; from++) {
    const to = moved[from]!
    if (to < 0) continue
    const start = from
    while (moved[from + 1] === to + from + 1 - start) from++
    spans.push({ from: start, to, count: from + 1 - start })
  }
  return [...spans, { from: moved.length, to: count, count: 0 }]
}

function hasGeoRules({ geoRules }: PoolModel): boolean {
  return geoRules.v4.length + geoRules.v6.length > 0
}

/** The table of a pool's geo rules, row + 1; 0: it has none. Their lists hold member indices. */
function networksOf(
  pool: PoolModel,
  members: readonly { readonly member: MemberModel }[],
  firstRow: number,
  ranges: ClientRangeColumns,
): number {
  if (!hasGeoRules(pool)) return 0
  const rows = new Map<string, number[]>()
  for (const [i, { member }] of members.entries()) {
    const known = rows.get(member.ipAddress || member.hostname)
    if (known === undefined) rows.set(member.ipAddress || member.hostname, [firstRow + i])
    else if (member.hostname !== '') known.push(firstRow + i)
  }
  return ranges.add(pool.geoRules, (endpoint) => rows.get(endpoint)) + 1
}
