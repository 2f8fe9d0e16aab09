// Defines the JSON of a maintenance window, as the API shows and accepts it.
import { Type } from '#lib/schema/type.ts'
import type { ConfigEntry } from '#config/entry.ts'
import type { ConfigSnapshot } from '#config/object-index.ts'
import { membersOfWindow, placedWindow } from '#config/overlays/effective.ts'
import { timesOf } from '#config/overlays/schedule.ts'
import { targetOfWindow } from '#config/overlays/targets.ts'
import { windowAt } from '#routing/time/overlay.ts'
import type { WindowState } from '#routing/time/overlay.ts'
import { readInstant } from '#schemas/forms/instant.ts'
import { MaintenanceWindowSpec } from '#schemas/objects/maintenance-window.ts'
import { closed } from '#http/shapes.ts'
import { plain } from './fields.ts'
import type { MemberPart } from './member.ts'

const { properties } = MaintenanceWindowSpec

export const MaintenanceWindow = Type.Object(
  {
    id: Type.String(),
    resourceType: Type.String(),
    resourceId: Type.String(),
    startAt: Type.String({ description: 'ISO 8601, UTC' }),
    endAt: Type.String({ description: 'ISO 8601, UTC' }),
    status: Type.Enum(['scheduled', 'active', 'completed']),
    memberIds: Type.Array(Type.String(), {
      description:
        'Who leaves and comes back. It is written down when the window begins; who enables a ' +
        'member by hand then takes it out',
    }),
  },
  { title: 'MaintenanceWindow' },
)

/** Answers have other times in numbers. */
const instant = { 'x-expected': 'a text such as "2026-01-31T12:00:00Z"' }

export const NewMaintenanceWindow = closed({
  resourceType: plain(properties.resourceType),
  resourceId: Type.String({ minLength: 1, maxLength: 255 }),
  startAt: plain(properties.startAt, instant),
  endAt: plain(properties.endAt, instant),
})

type Entry = ConfigEntry<'MaintenanceWindow'>

export function statusOf(entry: Entry, nowMs: number): WindowState {
  return windowAt(timesOf(entry), nowMs).state
}

/** Members that the window takes out, or will when it begins. */
export function membersOf(snapshot: ConfigSnapshot, entry: Entry): readonly MemberPart[] {
  const window = placedWindow(snapshot, entry)
  return window === undefined ? [] : membersOfWindow(window)
}

export function showWindow(snapshot: ConfigSnapshot, entry: Entry, nowMs: number) {
  const { resourceType, resource, startAt, endAt } = entry.object.spec
  const target = targetOfWindow(snapshot, entry)
  return {
    id: entry.uid,
    resourceType,
    resourceId: (target?.member ?? target?.pool)?.uid ?? resource,
    startAt: utc(startAt),
    endAt: utc(endAt),
    status: statusOf(entry, nowMs),
    memberIds: membersOf(snapshot, entry).map(({ uid }) => uid),
  }
}

export function utc(instant: string): string {
  const { atMs } = readInstant(instant)
  return atMs === undefined ? instant : new Date(atMs).toISOString()
}
