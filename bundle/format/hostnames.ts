// Layout of members with a host name: slots for its addresses, or one row for an alias.
import { formatName } from '#dns/name.ts'
import { MemberFlag } from './cells.ts'
import {
  discoveredLimits,
  discoveredText,
  isDiscoveredAt,
  isDiscoveredName,
} from '#bundle/discovered/from.ts'
import { bundleLimits } from './limits.ts'

/**
 * A row of `hostnameRow`: a member whose addresses each node resolves. It has slots, which are
 * adjacent rows of members: `slotsPerHostname` IPv4 ones from `First4` on, as many IPv6 ones from
 * `First6` on. All have the uid of the member and the flag `Resolved`; instead of an address each
 * has its number among the slots of the bundle (`slotOfMember`). `Name`: an offset in
 * `hostnameNames`, where a name is its length in an octet, then its octets.
 *
 * An alias is one row, among the IPv4 ones, with the flag `Alias` and the offset of its name in
 * place of an address. It is in no row of `hostnameRow`.
 *
 * A member whose addresses are discovered has several rows of `hostnameRow` with one name, its
 * _parts_, whose slots stand side by side; see bundle/discovered.
 */
export const HostnameCell = { Words: 3, First4: 0, First6: 1, Name: 2 } as const

/** Slots of a host name: IPv4 ones first. */
export const slotsOfHostname = bundleLimits.slotsPerHostname * 2

/** Columns of a bundle. */
interface HostnameColumns {
  readonly memberAddress: Uint8Array
  readonly memberAddress6: Uint8Array
  readonly memberFlags: Uint8Array
  readonly memberPool: Uint32Array
  readonly hostnameRow: Uint32Array
  readonly hostnameNames: Uint8Array
}

/** Number of slots in a bundle. */
export function slotCount({ hostnameRow }: Pick<HostnameColumns, 'hostnameRow'>): number {
  return (hostnameRow.length / HostnameCell.Words) * slotsOfHostname
}

export function isResolved({ memberFlags }: HostnameColumns, member: number): boolean {
  return (memberFlags[member]! & MemberFlag.Resolved) !== 0
}

export function isAlias({ memberFlags }: HostnameColumns, member: number): boolean {
  return (memberFlags[member]! & MemberFlag.Alias) !== 0
}

/** The row of `hostnameRow` that a member with the flag `Resolved` belongs to. */
export function hostnameOfSlot(columns: HostnameColumns, member: number): number {
  return Math.floor(slotOfMember(columns, member) / slotsOfHostname)
}

/** The number of a member with the flag `Resolved` among the slots of the bundle. */
export function slotOfMember(
  { memberAddress, memberAddress6, hostnameRow }: HostnameColumns,
  member: number,
): number {
  const word = numberAt(memberAddress, member * 4)
  // The cell of an IPv6 row is its row among the IPv6 addresses.
  const last = lastHostname(hostnameRow, HostnameCell.First4, member)
  const start = last < 0 ? -1 : hostnameRow[last * HostnameCell.Words + HostnameCell.First4]!
  const isIpv4 = start >= 0 && member < start + bundleLimits.slotsPerHostname
  return isIpv4 ? word : numberAt(memberAddress6, word * 16)
}

/** The last row whose cell is at most `member`, or -1; cells of a kind ascend. */
function lastHostname(hostnameRow: Uint32Array, cell: number, member: number): number {
  let low = -1
  let high = hostnameRow.length / HostnameCell.Words - 1
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if (hostnameRow[middle * HostnameCell.Words + cell]! <= member) low = middle
    else high = middle - 1
  }
  return low
}

/** The members of a host name's slots: IPv4 ones first. */
export function* slotMembers(
  { hostnameRow }: Pick<HostnameColumns, 'hostnameRow'>,
  hostname: number,
): Generator<number> {
  const at = hostname * HostnameCell.Words
  for (const cell of [HostnameCell.First4, HostnameCell.First6]) {
    const first = hostnameRow[at + cell]!
    for (let i = 0; i < bundleLimits.slotsPerHostname; i++) yield first + i
  }
}

/** The rows of `hostnameRow` of one member: mostly one. */
interface HostnameParts {
  readonly first: number
  readonly count: number
}

/** How many parts a member of that host name has. */
export function partsOf(hostname: string): number {
  return isDiscoveredName(hostname) ? discoveredLimits.slots / bundleLimits.slotsPerHostname : 1
}

export function isDiscovered(
  { hostnameRow, hostnameNames }: Pick<HostnameColumns, 'hostnameRow' | 'hostnameNames'>,
  hostname: number,
): boolean {
  return isDiscoveredAt(
    hostnameNames,
    hostnameRow[hostname * HostnameCell.Words + HostnameCell.Name]!,
  )
}

/** The parts of the member that this row of `hostnameRow` belongs to. */
export function partsAround(columns: HostnameColumns, hostname: number): HostnameParts {
  if (!isDiscovered(columns, hostname)) return { first: hostname, count: 1 }
  const count = discoveredLimits.slots / bundleLimits.slotsPerHostname
  let first = hostname
  // Parts of one member stand side by side, and so do members: a run of parts may be of several.
  while (first > 0 && isSameName(columns, first - 1, hostname)) first--
  return { first: hostname - ((hostname - first) % count), count }
}

function isSameName(
  { hostnameRow, memberPool }: HostnameColumns,
  one: number,
  other: number,
): boolean {
  const { Words, Name, First4 } = HostnameCell
  const poolOf = (hostname: number): number => memberPool[hostnameRow[hostname * Words + First4]!]!
  const isSame = hostnameRow[one * Words + Name] === hostnameRow[other * Words + Name]
  return isSame && poolOf(one) === poolOf(other)
}

/** All rows of the member that this row belongs to: itself, or the slots of its host name. */
export function rowsOfMember(columns: HostnameColumns, member: number): readonly number[] {
  if (!isResolved(columns, member)) return [member]
  const { first, count } = partsAround(columns, hostnameOfSlot(columns, member))
  const parts = Array.from({ length: count }, (_, part) => [...slotMembers(columns, first + part)])
  const { slotsPerHostname } = bundleLimits
  return [
    ...parts.flatMap((slots) => slots.slice(0, slotsPerHostname)),
    ...parts.flatMap((slots) => slots.slice(slotsPerHostname)),
  ]
}

/** The slots of each member that has some: all that it has. */
export function* membersWithSlots(columns: HostnameColumns): Generator<readonly number[]> {
  const rows = columns.hostnameRow.length / HostnameCell.Words
  for (let hostname = 0; hostname < rows;) {
    const { count } = partsAround(columns, hostname)
    const parts = Array.from({ length: count }, (_, part) => hostname + part)
    yield parts.flatMap((part) => [...slotMembers(columns, part)])
    hostname += count
  }
}

/** In presentation form; undefined: the member has an address. */
export function hostnameOfMember(columns: HostnameColumns, member: number): string | undefined {
  if (isAlias(columns, member)) return nameAt(columns, numberAt(columns.memberAddress, member * 4))
  if (!isResolved(columns, member)) return undefined
  return hostnameText(columns, hostnameOfSlot(columns, member))
}

/** The name of a row of `hostnameRow`. */
export function hostnameText(columns: HostnameColumns, hostname: number): string {
  const { hostnameRow } = columns
  return nameAt(columns, hostnameRow[hostname * HostnameCell.Words + HostnameCell.Name]!)
}

function nameAt({ hostnameNames }: HostnameColumns, offset: number): string {
  return discoveredText(hostnameNames, offset + 1) ?? formatName(hostnameNames, offset + 1)
}

/** Reads a number in network order. */
export function numberAt(octets: Uint8Array, at: number): number {
  const high = (octets[at]! << 24) | (octets[at + 1]! << 16)
  return (high | (octets[at + 2]! << 8) | octets[at + 3]!) >>> 0
}
