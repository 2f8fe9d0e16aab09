// Pools and their members as columns: pools by uid, members of a pool side by side, IPv4 first.
import { assert } from '#lib/assert.ts'
import { canonicalJson } from './canonical-json.ts'
import type { Json } from './canonical-json.ts'
import { MemberFlag } from './cells.ts'
import { ClientRangeColumns, mapTable } from './client-ranges.ts'
import { MemberExtraRows } from './member-extra.ts'
import type { BundleModel, MemberModel, PoolModel, RoutingModel } from './model.ts'
import { placeCode } from './routing-columns.ts'
import type { EndpointTable } from './routing-columns.ts'
import { addressOctets, copyOctets, RowMemory, writeUid } from './rows.ts'
import type { Rows } from './rows.ts'
import type { AskedTexts, StringTable } from './string-table.ts'

/** What a pool's rows say by themselves, whatever other pools there are. */
interface PoolRow {
  /** IPv4 before IPv6; within a family the order of the file, which breaks ties in routing. */
  readonly members: readonly MemberRow[]
  readonly memberUids: Uint8Array
  readonly count4: number
  /** Canonical JSON; '' when there is none. */
  readonly healthCheck: string
}

interface MemberRow {
  readonly member: MemberModel
  readonly octets: Uint8Array
  readonly place: number
}

/** What the pools of a bundle take. */
export interface PoolTables {
  readonly columns: ReturnType<typeof layOut>
  /** The row of the pool at each position of the model. */
  readonly indexOfPool: Uint32Array
  /** The rules of `mapFile` and those of pools. */
  readonly ranges: ReturnType<ClientRangeColumns['columns']>
}

interface LastPools {
  readonly rows: Rows<PoolRow>
  readonly routing: RoutingModel
  readonly tables: PoolTables
  readonly asked: AskedTexts
}

/** The pools of the last bundle: most changes are about something else, or about one of them. */
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
    const last = this.#last
    const isSame = last?.rows === rows && last.routing === routing
    if (isSame && strings.repeat(last.asked)) {
      this.#last = { ...last, asked: strings.mark() }
      return last.tables
    }
    const ranges = new ClientRangeColumns()
    const mapTableRow = ranges.add(routing.mapRules, (endpoint) => endpoints.rowOf(endpoint))
    assert(mapTableRow === mapTable, 'the map rules come first')
    const columns = layOut(pools, rows, { strings, endpoints, ranges })
    const tables = { columns, indexOfPool: rows.rowAt, ranges: ranges.columns() }
    this.#last = { rows, routing, tables, asked: strings.mark() }
    return tables
  }
}

/** Where the columns of pools put what is not theirs. */
interface PoolParts {
  readonly strings: StringTable
  readonly endpoints: EndpointTable
  readonly ranges: ClientRangeColumns
}

function layOut(
  pools: readonly PoolModel[],
  { positions, uids, rows }: Rows<PoolRow>,
  parts: PoolParts,
) {
  const { strings, endpoints } = parts
  const memberCount = rows.reduce((sum, { members }) => sum + members.length, 0)
  const columns = {
    poolUid: uids,
    poolName: new Uint32Array(pools.length),
    poolTenant: new Uint32Array(pools.length),
    poolMemberStart: new Uint32Array(pools.length),
    poolCount4: new Uint32Array(pools.length),
    poolCount6: new Uint32Array(pools.length),
    poolHealthCheck: new Uint32Array(pools.length),
    poolMinHealthy: new Uint32Array(pools.length),
    poolNetworks: new Uint32Array(pools.length),
    memberUid: new Uint8Array(memberCount * 16),
    memberPool: new Uint32Array(memberCount),
    memberAddress: new Uint8Array(memberCount * 4),
    memberPort: new Uint16Array(memberCount),
    memberWeight: new Uint32Array(memberCount),
    memberPriority: new Uint32Array(memberCount),
    memberFlags: new Uint8Array(memberCount),
    memberName: new Uint32Array(memberCount),
    memberRegion: new Uint32Array(memberCount),
    memberPlace: new Uint16Array(memberCount),
    memberEndpoint: new Uint32Array(memberCount),
  }
  const octets6: Uint8Array[] = []
  const extra = new MemberExtraRows(strings)
  let row = 0
  for (let poolIndex = 0; poolIndex < pools.length; poolIndex++) {
    const pool = pools[positions[poolIndex]!]!
    const { members, memberUids, count4, healthCheck } = rows[poolIndex]!
    columns.poolName[poolIndex] = strings.add(pool.name)
    columns.poolTenant[poolIndex] = strings.add(pool.tenant)
    columns.poolHealthCheck[poolIndex] = strings.add(healthCheck)
    columns.poolMinHealthy[poolIndex] = pool.minHealthy
    columns.poolMemberStart[poolIndex] = row
    columns.poolNetworks[poolIndex] = networksOf(pool, members, row, parts.ranges)
    columns.poolCount4[poolIndex] = count4
    columns.poolCount6[poolIndex] = members.length - count4
    copyOctets(columns.memberUid, row * 16, memberUids, 0, memberUids.length)
    for (const { member, octets, place } of members) {
      columns.memberPool[row] = poolIndex
      const octets4 = octets.length === 4 ? octets : rowOctets(octets6)
      copyOctets(columns.memberAddress, row * 4, octets4, 0, 4)
      if (octets.length === 16) octets6.push(octets)
      columns.memberPort[row] = member.port
      columns.memberWeight[row] = member.weight
      columns.memberPriority[row] = member.priority
      columns.memberFlags[row] = member.enabled ? MemberFlag.Enabled : 0
      columns.memberName[row] = strings.add(member.name)
      columns.memberRegion[row] = strings.add(member.region)
      columns.memberPlace[row] = place
      columns.memberEndpoint[row] = endpoints.rowOf(member.ipAddress)
      extra.add(row, member)
      row++
    }
  }
  const memberAddress6 = new Uint8Array(octets6.length * 16)
  for (const [i, octets] of octets6.entries()) memberAddress6.set(octets, i * 16)
  return { ...columns, memberAddress6, memberExtra: extra.column() }
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

/** The number of the next row, in network order. */
function rowOctets(rows: readonly unknown[]): Uint8Array {
  const octets = Buffer.alloc(4)
  octets.writeUInt32BE(rows.length)
  return octets
}

function poolRow(pool: PoolModel): PoolRow {
  const all = pool.members.map((member): MemberRow => ({
    member,
    octets: addressOctets(member.ipAddress),
    place: placeCode(member.region),
  }))
  const v4 = all.filter(({ octets }) => octets.length === 4)
  const members = [...v4, ...all.filter(({ octets }) => octets.length === 16)]
  const memberUids = new Uint8Array(members.length * 16)
  for (const [i, { member }] of members.entries()) writeUid(memberUids, i * 16, member.uid)
  const check = pool.healthCheck as unknown as Json
  const healthCheck = check === null ? '' : canonicalJson(check)
  return { members, memberUids, count4: v4.length, healthCheck }
}
