// Pools and their members as columns: pools by uid, members of a pool side by side, IPv4 first.
import { canonicalJson } from './canonical-json.ts'
import type { Json } from './canonical-json.ts'
import { MemberFlag } from './cells.ts'
import type { ClientRangeColumns } from './client-ranges.ts'
import { MemberExtraRows } from './member-extra.ts'
import type { MemberModel, PoolModel } from './model.ts'
import { placeCode } from './routing-columns.ts'
import type { EndpointTable } from './routing-columns.ts'
import { addressOctets, sortedByUid, uidColumn, writeUid } from './rows.ts'
import type { StringTable } from './string-table.ts'

/** Where the columns of pools put what is not theirs. */
export interface PoolParts {
  readonly strings: StringTable
  readonly endpoints: EndpointTable
  readonly ranges: ClientRangeColumns
}

export function poolColumns(pools: readonly PoolModel[], parts: PoolParts) {
  const { strings, endpoints } = parts
  const order = sortedByUid(pools)
  const memberCount = order.reduce((sum, pool) => sum + pool.members.length, 0)
  const columns = {
    poolUid: uidColumn(order),
    poolName: new Uint32Array(order.length),
    poolTenant: new Uint32Array(order.length),
    poolMemberStart: new Uint32Array(order.length),
    poolCount4: new Uint32Array(order.length),
    poolCount6: new Uint32Array(order.length),
    poolHealthCheck: new Uint32Array(order.length),
    poolMinHealthy: new Uint32Array(order.length),
    poolNetworks: new Uint32Array(order.length),
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
  const positions = new Map<PoolModel, number>()
  const octets6: Uint8Array[] = []
  const extra = new MemberExtraRows(strings)
  let row = 0
  for (const [poolIndex, pool] of order.entries()) {
    positions.set(pool, poolIndex)
    const check = pool.healthCheck as unknown as Json
    columns.poolName[poolIndex] = strings.add(pool.name)
    columns.poolTenant[poolIndex] = strings.add(pool.tenant)
    columns.poolHealthCheck[poolIndex] = check === null ? 0 : strings.add(canonicalJson(check))
    columns.poolMinHealthy[poolIndex] = pool.minHealthy
    columns.poolMemberStart[poolIndex] = row
    const members = byFamily(pool.members)
    columns.poolNetworks[poolIndex] = networksOf(pool, members.order, row, parts.ranges)
    columns.poolCount4[poolIndex] = members.count4
    columns.poolCount6[poolIndex] = members.order.length - members.count4
    for (const { member, octets } of members.order) {
      writeUid(columns.memberUid, row * 16, member.uid)
      columns.memberPool[row] = poolIndex
      columns.memberAddress.set(octets.length === 4 ? octets : rowOctets(octets6), row * 4)
      if (octets.length === 16) octets6.push(octets)
      columns.memberPort[row] = member.port
      columns.memberWeight[row] = member.weight
      columns.memberPriority[row] = member.priority
      columns.memberFlags[row] = member.enabled ? MemberFlag.Enabled : 0
      columns.memberName[row] = strings.add(member.name)
      columns.memberRegion[row] = strings.add(member.region)
      columns.memberPlace[row] = placeCode(member.region)
      columns.memberEndpoint[row] = endpoints.rowOf(member.ipAddress)
      extra.add(row, member)
      row++
    }
  }
  const memberAddress6 = new Uint8Array(octets6.length * 16)
  for (const [i, octets] of octets6.entries()) memberAddress6.set(octets, i * 16)
  return {
    columns: { ...columns, memberAddress6, memberExtra: extra.column() },
    indexOfPool: pools.map((pool) => positions.get(pool)!),
  }
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

/** IPv4 before IPv6; within a family the order of the file, which breaks ties in routing. */
function byFamily(members: readonly MemberModel[]) {
  const all = members.map((member) => ({ member, octets: addressOctets(member.ipAddress) }))
  const v4 = all.filter(({ octets }) => octets.length === 4)
  const v6 = all.filter(({ octets }) => octets.length === 16)
  return { order: [...v4, ...v6], count4: v4.length }
}
