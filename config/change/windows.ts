// Records in a draft which members a maintenance window holds out: when it begins, and when a
// member is enabled by hand.
import type { Draft } from '#config/draft.ts'
import type { ConfigEntry } from '#config/entry.ts'
import type { Fault } from '#config/fault.ts'
import { membersOfWindow, placedWindow } from '#config/overlays/effective.ts'
import { timesOf } from '#config/overlays/schedule.ts'
import { ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { windowAt } from '#routing/time/overlay.ts'
import { objectsOf, withSpec } from './raw.ts'

type Entry = ConfigEntry<'MaintenanceWindow'>

/**
 * Writes the held members of an active window to it. The first node does it; a later one finds it
 * done, and changes nothing.
 */
export function recordWindow(draft: Draft, entry: Entry, atMs: number): Result<Entry, Fault> {
  if (entry.object.spec.members !== undefined || !isActive(entry, atMs)) return ok(entry)
  const window = placedWindow(objectsOf(draft), entry)
  if (window === undefined) return ok(entry)
  return withSpec(draft, entry, { members: membersOfWindow(window).map(({ uid }) => uid) })
}

/**
 * Writes down the members of a pool's active windows before a member is added or changed, since the
 * windows hold the members of before.
 */
export function recordWindowsOf(draft: Draft, poolUid: string, atMs: number): Result<null, Fault> {
  for (const entry of activeWindows(draft, atMs)) {
    if (entry.object.spec.members !== undefined) continue
    if (placedWindow(objectsOf(draft), entry)?.pool.uid !== poolUid) continue
    const recorded = recordWindow(draft, entry, atMs)
    if (!recorded.ok) return recorded
  }
  return ok(null)
}

/**
 * Takes a member out of active windows, when a person enables it. The windows must be written down
 * before.
 */
export function leaveWindows(draft: Draft, memberUid: string, atMs: number): Result<null, Fault> {
  for (const entry of activeWindows(draft, atMs)) {
    const members = (entry.object.spec.members ?? []).map((uid) => uid.toLowerCase())
    if (!members.includes(memberUid)) continue
    const rest = members.filter((uid) => uid !== memberUid)
    const left = withSpec(draft, entry, { members: rest })
    if (!left.ok) return left
  }
  return ok(null)
}

/** Returns a copy, so that no changed entry is met again. */
function activeWindows(draft: Draft, atMs: number): readonly Entry[] {
  return draft.entries('MaintenanceWindow').filter((entry) => isActive(entry, atMs))
}

function isActive(entry: Entry, atMs: number): boolean {
  return windowAt(timesOf(entry), atMs).state === 'active'
}
