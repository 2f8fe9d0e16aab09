// Layout of members with a host name: slots for its addresses, or one row for an alias.
import { formatName } from '#dns/name.ts'
import { MemberFlag } from './cells.ts'
import { bundleLimits } from './limits.ts'

/**
 * A row of `hostnameRow`: a member whose addresses each node resolves. It has slots, which are
 * adjacent rows of members: `slotsPerHostname` IPv4 ones from `First4` on, as many IPv6 ones from
 * `First6` on. All have the uid of the member and the flag `Resolved`; instead of an address each
 * has its number among the slots of the bundle (`slotOfMember`). `Name`: an offset in
 * `hostnameNames`, where a name is its length in an octet, then its octets.
 *
 * An alias is a single IPv4 row with the flag `Alias` and the offset of its name instead of an
 * address. It has no row in `hostnameRow`.
 */
export const HostnameCell = { Words: 3, First4: 0, First6: 1, Name: 2 } as const

/** Slots of a host name: IPv4 ones first. */
export const slotsOfHostname = bundleLimits.slotsPerHostname * 2

/** Columns of a bundle. */
interface HostnameColumns {
  readonly memberAddress: Uint8Array
  readonly memberAddress6: Uint8Array
  readonly memberFlags: Uint8Array
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

/**
 * All rows of the member that this row belongs to: the row itself, or all slots of its host name.
 */
export function rowsOfMember(columns: HostnameColumns, member: number): readonly number[] {
  if (!isResolved(columns, member)) return [member]
  return [...slotMembers(columns, hostnameOfSlot(columns, member))]
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
  return formatName(hostnameNames, offset + 1)
}

/** Reads a number in network order. */
export function numberAt(octets: Uint8Array, at: number): number {
  const high = (octets[at]! << 24) | (octets[at + 1]! << 16)
  return (high | (octets[at + 2]! << 8) | octets[at + 3]!) >>> 0
}
