// Resolves the pool or member that a rollout or a window names, by the rules of the compiler.
import { MemberNames, splitResource } from '#compiler/values/member-names.ts'
import { partsIn } from '#config/entry.ts'
import type { ConfigEntry, ConfigPart } from '#config/entry.ts'
import type { ConfigSnapshot } from '#config/object-index.ts'

export type MemberPart = ConfigPart<'Member'>['part']

/** Look-ups in an accepted configuration or a draft. */
export type Objects = Pick<ConfigSnapshot, 'get' | 'holderOf' | 'part'>

export interface MemberTarget {
  readonly pool: ConfigEntry<'Pool'>
  readonly member: MemberPart
}

export interface WindowTarget {
  readonly pool: ConfigEntry<'Pool'>
  /** null: the window is for the whole pool. */
  readonly member: MemberPart | null
}

/** Returns the target of a rollout; undefined: its pool or member has just gone. */
export function targetOfRollout(
  objects: Objects,
  { tenant, object }: ConfigEntry<'Rollout'>,
): MemberTarget | undefined {
  const { pool: poolName, member: text, memberId } = object.spec
  const pool = poolNamed(objects, tenant, poolName)
  const member = pool && memberNamed(pool, text ?? memberId ?? '')
  return pool === undefined || member === undefined ? undefined : { pool, member }
}

/** Returns the target of a window; undefined: its pool or member has just gone. */
export function targetOfWindow(
  objects: Objects,
  { tenant, object }: ConfigEntry<'MaintenanceWindow'>,
): WindowTarget | undefined {
  const { resourceType, resource } = object.spec
  if (resourceType === 'pool') {
    const pool = poolNamed(objects, tenant, resource)
    return pool && { pool, member: null }
  }
  const byId = objects.part('Member', resource)
  if (byId?.owner.tenant === tenant) {
    return { pool: byId.owner as ConfigEntry<'Pool'>, member: byId.part }
  }
  const [poolText, text] = splitResource(resource)
  const pool = text === undefined ? undefined : poolNamed(objects, tenant, poolText)
  const member = pool && memberNamed(pool, text ?? '')
  return pool === undefined || member === undefined ? undefined : { pool, member }
}

/** Finds a pool of the same tenant by name, else by id. */
function poolNamed(
  objects: Objects,
  tenant: string,
  text: string,
): ConfigEntry<'Pool'> | undefined {
  const byName = objects.holderOf('Pool', tenant, text)
  const pool = byName?.tenant === tenant ? byName : objects.get('Pool', text)
  return pool?.tenant === tenant ? (pool as ConfigEntry<'Pool'>) : undefined
}

/** Finds a member by name, address or id. */
function memberNamed(pool: ConfigEntry<'Pool'>, text: string): MemberPart | undefined {
  const members = partsIn('Member', pool)
  const placeOfUid = (uid: string): number => members.findIndex((member) => member.uid === uid)
  const [place] = new MemberNames(members, placeOfUid).placesOf(text)
  return place === undefined ? undefined : members[place]
}
