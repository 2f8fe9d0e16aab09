// Resolves the pool or member that a rollout or a window names, as the compiler does.
import { MemberNames } from '#compiler/values/member-names.ts'
import { partsIn } from '#config/entry.ts'
import type { ConfigEntry } from '#config/entry.ts'
import type { ConfigSnapshot } from '#config/object-index.ts'
import type { MemberPart } from './member.ts'

/** By name, else by id; of the same tenant. */
export function poolNamed(
  snapshot: ConfigSnapshot,
  tenant: string,
  text: string,
): ConfigEntry<'Pool'> | undefined {
  const byName = snapshot.find('Pool', tenant, text)
  const pool = byName ?? snapshot.get('Pool', text)
  return pool?.tenant === tenant ? pool : undefined
}

/** By name, address or id. */
export function memberNamed(pool: ConfigEntry<'Pool'>, text: string): MemberPart | undefined {
  const members = partsIn('Member', pool)
  const placeOfUid = (uid: string): number => members.findIndex((member) => member.uid === uid)
  const [place] = new MemberNames(members, placeOfUid).placesOf(text)
  return place === undefined ? undefined : members[place]
}
