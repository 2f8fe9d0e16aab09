// Encodes pools and members as columns: pools by uid, members of a pool side by side, IPv4 first.
import { MemberFlag } from '#bundle/format/cells.ts'
import { arrayTypes, sectionNames, sectionSpecs } from '#bundle/format/format.ts'
import type { ColumnsOf, NameOfRows } from '#bundle/format/format.ts'
import { healthCheckText } from '#bundle/format/health-check.ts'
import { partsOf } from '#bundle/format/hostnames.ts'
import { bundleLimits } from '#bundle/format/limits.ts'
import { hasExtra } from '#bundle/format/member-extra.ts'
import type { MemberExtraRows } from '#bundle/format/member-extra.ts'
import type { MemberModel, PoolModel } from '#bundle/format/model.ts'
import { placeCode } from '#bundle/format/routing-cells.ts'
import type { HostnameRows } from './hostname-rows.ts'
import type { EndpointTable } from './routing-columns.ts'
import { addressOctets, copyOctets, writeUid } from './rows.ts'
import type { StringTable } from '#bundle/format/string-table.ts'

/** Data of a pool's rows that does not depend on other pools. */
export interface PoolRow {
  /** IPv4 before IPv6; within a family the order of the file, which breaks ties in routing. */
  readonly members: readonly MemberRow[]
  readonly memberUids: Uint8Array
  readonly count4: number
  /** Canonical JSON; '' when there is none. */
  readonly healthCheck: string
  readonly hasGeoRules: boolean
  /** No other table has rows of it: no host names, geo rules, or fields that are rarely set. */
  readonly isPlain: boolean
}

interface MemberRow {
  readonly member: MemberModel
  /** The octets of its address; all zero when it has a host name. */
  readonly octets: Uint8Array
  readonly place: number
  /** Bits of MemberFlag except `Enabled`. */
  readonly kind: number
}

export type PoolColumns = ReturnType<typeof emptyPoolColumns>

/** Where the rows of a pool begin; the last entry is the count of rows. */
export interface PoolPlace {
  pool: number
  member: number
  address6: number
}

export function advance(place: PoolPlace, { members, count4 }: PoolRow): void {
  place.pool++
  place.member += members.length
  place.address6 += members.length - count4
}

/** Allocates columns for so many rows, except for those of `MemberExtraRows` and `HostnameRows`. */
export function emptyPoolColumns(uids: Uint8Array, { pool, member, address6 }: PoolPlace) {
  return {
    ...emptyColumns('pools', pool),
    ...emptyColumns('members', member),
    poolUid: uids,
    memberAddress6: new Uint8Array(address6 * sectionSpecs.memberAddress6.width),
  }
}

function emptyColumns<Rows extends 'pools' | 'members'>(rows: Rows, count: number) {
  const names = sectionNames.filter((name) => sectionSpecs[name].rows === rows)
  return Object.fromEntries(
    names.map((name) => {
      const { element, width } = sectionSpecs[name]
      return [name, new arrayTypes[element](count * width)]
    }),
  ) as unknown as ColumnsOf<NameOfRows<Rows>>
}

/** Writes the octets that `address6Row` reads. */
export function writeAddress6Row(
  { memberAddress }: Pick<PoolColumns, 'memberAddress'>,
  member: number,
  row6: number,
): void {
  for (let i = 0; i < 4; i++) memberAddress[member * 4 + i] = row6 >>> (24 - 8 * i)
}

/** Collectors that pools are written with. */
interface PoolParts {
  readonly strings: StringTable
  readonly endpoints: EndpointTable
  readonly extra: MemberExtraRows
  readonly hostnames: HostnameRows
}

/** Fills the rows of a pool, except its networks. */
export function writePool(
  columns: PoolColumns,
  place: PoolPlace,
  pool: PoolModel,
  { members, memberUids, count4, healthCheck }: PoolRow,
  { strings, endpoints, extra, hostnames }: PoolParts,
): void {
  const index = place.pool
  columns.poolName[index] = strings.add(pool.name)
  columns.poolTenant[index] = strings.add(pool.tenant)
  columns.poolHealthCheck[index] = strings.add(healthCheck)
  columns.poolMinHealthy[index] = pool.minHealthy
  columns.poolMemberStart[index] = place.member
  columns.poolCount4[index] = count4
  columns.poolCount6[index] = members.length - count4
  copyOctets(columns.memberUid, place.member * 16, memberUids, 0, memberUids.length)
  let [row, row6] = [place.member, place.address6]
  for (const { member, octets: declared, place: memberPlace, kind } of members) {
    columns.memberPool[row] = index
    const octets = kind === 0 ? declared : hostnames.octetsOf(member, kind, row, declared.length)
    if (octets.length === 4) copyOctets(columns.memberAddress, row * 4, octets, 0, 4)
    else {
      writeAddress6Row(columns, row, row6)
      copyOctets(columns.memberAddress6, row6++ * 16, octets, 0, 16)
    }
    columns.memberPort[row] = member.port
    columns.memberWeight[row] = member.weight
    columns.memberPriority[row] = member.priority
    columns.memberFlags[row] = kind | (member.enabled ? MemberFlag.Enabled : 0)
    columns.memberName[row] = strings.add(member.name)
    columns.memberRegion[row] = strings.add(member.region)
    columns.memberPlace[row] = memberPlace
    columns.memberEndpoint[row] = endpoints.rowOf(member.ipAddress)
    extra.add(row, member)
    row++
  }
}

export function poolRow(pool: PoolModel): PoolRow {
  const all = pool.members.flatMap((member) => rowsOf(member, pool.answer))
  const v4 = all.filter(({ octets }) => octets.length === 4)
  const members = [...v4, ...all.filter(({ octets }) => octets.length === 16)]
  const memberUids = new Uint8Array(members.length * 16)
  for (const [i, { member }] of members.entries()) writeUid(memberUids, i * 16, member.uid)
  const healthCheck = pool.healthCheck === null ? '' : healthCheckText(pool.healthCheck)
  const hasGeoRules = pool.geoRules.v4.length + pool.geoRules.v6.length > 0
  const isPlain =
    !hasGeoRules && members.every(({ kind, member }) => kind === 0 && !hasExtra(member))
  return { members, memberUids, count4: v4.length, healthCheck, hasGeoRules, isPlain }
}

const noOctets4 = new Uint8Array(4)
const noOctets16 = new Uint8Array(16)

function rowsOf(member: MemberModel, answer: PoolModel['answer']): readonly MemberRow[] {
  const place = placeCode(member.region)
  if (member.hostname === '') {
    return [{ member, octets: addressOctets(member.ipAddress), place, kind: 0 }]
  }
  if (answer === 'cname') return [{ member, octets: noOctets4, place, kind: MemberFlag.Alias }]
  return [noOctets4, noOctets16].flatMap((octets) => {
    const slot = { member, octets, place, kind: MemberFlag.Resolved }
    const length = bundleLimits.slotsPerHostname * partsOf(member.hostname)
    return Array.from({ length }, () => slot)
  })
}
