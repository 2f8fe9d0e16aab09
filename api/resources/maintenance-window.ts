// The JSON of a maintenance window: as the API shows it, and as it accepts it.
import { splitResource } from '#compiler/values/member-names.ts'
import { Type } from 'typebox'
import { partsIn } from '#config/entry.ts'
import type { ConfigEntry } from '#config/entry.ts'
import type { ConfigSnapshot } from '#config/object-index.ts'
import { windowAt } from '#routing/time/overlay.ts'
import type { WindowState } from '#routing/time/overlay.ts'
import { readInstant } from '#schemas/forms/instant.ts'
import { MaintenanceWindowSpec } from '#schemas/objects/maintenance-window.ts'
import { body } from '#api/http/shapes.ts'
import { plain } from './fields.ts'
import type { MemberPart } from './member.ts'
import { memberNamed, poolNamed } from './overlay-target.ts'

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
      description: 'Who leaves and comes back: members that are disabled in the pool stay so',
    }),
  },
  { title: 'MaintenanceWindow' },
)

export const NewMaintenanceWindow = body({
  resourceType: plain(properties.resourceType),
  resourceId: Type.String({ minLength: 1, maxLength: 255 }),
  startAt: plain(properties.startAt),
  endAt: plain(properties.endAt),
})

type Entry = ConfigEntry<'MaintenanceWindow'>

export function statusOf({ object: { spec } }: Entry, nowMs: number): WindowState {
  const [startAtMs = 0, endAtMs = 0] = [spec.startAt, spec.endAt].map(
    (text) => readInstant(text).atMs,
  )
  return windowAt({ startAtMs, endAtMs }, nowMs).state
}

/** The enabled members that it is for. */
export function membersOfWindow(snapshot: ConfigSnapshot, entry: Entry): readonly MemberPart[] {
  const { resourceType, resource } = entry.object.spec
  if (resourceType === 'pool') {
    const pool = poolNamed(snapshot, entry.tenant, resource)
    return pool === undefined ? [] : partsIn('Member', pool).filter(({ enabled }) => enabled)
  }
  const member = memberOf(snapshot, entry.tenant, resource)
  return member?.enabled === true ? [member] : []
}

function memberOf(
  snapshot: ConfigSnapshot,
  tenant: string,
  resource: string,
): MemberPart | undefined {
  const byId = snapshot.part('Member', resource)
  if (byId?.owner.tenant === tenant) return byId.part
  const [poolText, text] = splitResource(resource)
  const pool = text === undefined ? undefined : poolNamed(snapshot, tenant, poolText)
  return pool && memberNamed(pool, text ?? '')
}

export function showWindow(snapshot: ConfigSnapshot, entry: Entry, nowMs: number) {
  const { resourceType, resource, startAt, endAt } = entry.object.spec
  const target =
    resourceType === 'pool'
      ? poolNamed(snapshot, entry.tenant, resource)
      : memberOf(snapshot, entry.tenant, resource)
  return {
    id: entry.uid,
    resourceType,
    resourceId: target?.uid ?? resource,
    startAt: utc(startAt),
    endAt: utc(endAt),
    status: statusOf(entry, nowMs),
    memberIds: membersOfWindow(snapshot, entry).map(({ uid }) => uid),
  }
}

export function utc(instant: string): string {
  const { atMs } = readInstant(instant)
  return atMs === undefined ? instant : new Date(atMs).toISOString()
}
