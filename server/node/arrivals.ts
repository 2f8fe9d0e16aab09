// Finds the members that are new in a bundle or enabled again: they must pass their warm-up gate.
import { addressOfMember, memberOctets, uidOf } from '#bundle/format/bundle.ts'
import type { Bundle } from '#bundle/format/bundle.ts'
import { MemberFlag } from '#bundle/format/cells.ts'
import { membersWithExtra } from '#bundle/format/member-extra.ts'
import { membersOf } from '#routing/state/candidates.ts'
import { targetKey } from '#health/probes/probe.ts'

/**
 * Keys (`targetKey`; of a host name with the name) of the members with a gate, enabled and probed,
 * that the bundle before did not have enabled. A member of another pool, or at another address, is
 * another member; a monitor that has probed it in its former pool knows better.
 *
 * @param probed by pool of the next bundle, of `probedPools`
 * @param previous undefined: the first bundle of this process. Nobody is new then: its members were
 *   there before the process, and a node that starts must answer at once.
 */
export function arrivals(
  previous: Bundle | undefined,
  next: Bundle,
  probed: Uint8Array,
): ReadonlySet<string> {
  const keys = new Set<string>()
  if (previous === undefined) return keys
  for (const [member, { warmupThreshold }] of membersWithExtra(next)) {
    if (warmupThreshold === 0 || !isEnabled(next, member)) continue
    if (probed[next.memberPool[member]!] === 0) continue
    if (wasEnabled(previous, next, member)) continue
    keys.add(targetKey(uidOf(next.memberUid, member), addressOfMember(next, member)))
  }
  return keys
}

function isEnabled(bundle: Bundle, member: number): boolean {
  return (bundle.memberFlags[member]! & MemberFlag.Enabled) !== 0
}

function wasEnabled(previous: Bundle, next: Bundle, member: number): boolean {
  const pool = rowOfUid(previous.poolUid, next.poolUid, next.memberPool[member]!)
  if (pool < 0) return false
  const uid = uidOctets(next.memberUid, member)
  for (const before of membersOf(previous, pool)) {
    const isSame =
      uid.equals(uidOctets(previous.memberUid, before)) &&
      isSameTarget(previous, before, next, member)
    if (isSame) return isEnabled(previous, before)
  }
  return false
}

/** Compares host names by name, because the addresses that they resolve to change on their own. */
function isSameTarget(previous: Bundle, before: number, next: Bundle, member: number): boolean {
  if (previous.hasHostnames || next.hasHostnames) {
    return addressOfMember(previous, before) === addressOfMember(next, member)
  }
  return Buffer.compare(memberOctets(previous, before), memberOctets(next, member)) === 0
}

/**
 * Finds the row of a sorted column that holds the uid in a row of another column; -1 when there is
 * none.
 */
function rowOfUid(column: Uint8Array, other: Uint8Array, row: number): number {
  const uid = uidOctets(other, row)
  let low = 0
  let high = column.length / 16
  while (low < high) {
    const middle = (low + high) >>> 1
    const order = uidOctets(column, middle).compare(uid)
    if (order === 0) return middle
    if (order < 0) low = middle + 1
    else high = middle
  }
  return -1
}

function uidOctets({ buffer, byteOffset }: Uint8Array, row: number): Buffer {
  return Buffer.from(buffer, byteOffset + row * 16, 16)
}
