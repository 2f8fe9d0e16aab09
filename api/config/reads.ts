// Reads objects of the accepted configuration for a caller; objects of other tenants are invisible.
import { partsIn } from '#config/entry.ts'
import type { ConfigEntry, ConfigPart } from '#config/entry.ts'
import type { PartKind, PartOf } from '#config/parts.ts'
import type { PartTarget } from '#config/operation.ts'
import type { ConfigSnapshot } from '#config/object-index.ts'
import { kinds } from '#schemas/kinds.ts'
import type { Kind } from '#schemas/kinds.ts'
import { sees, visibleTenant } from '#access/caller.ts'
import type { Caller, Viewer } from '#access/caller.ts'
import type { Ports } from '#ports/ports.ts'

interface Context {
  readonly caller: Viewer
  readonly ports: Ports<'config'>
}

/** @param ref an id, or the name of the only such object that the caller may see */
export function findObject<K extends Kind>(
  { caller, ports }: Context,
  kind: K,
  ref: string,
): ConfigEntry<K> | undefined {
  const snapshot = ports.config.snapshot()
  const entry = snapshot.get(kind, ref) ?? objectNamed(snapshot, caller, kind, ref)
  return entry !== undefined && sees(caller, entry.tenant) ? entry : undefined
}

function objectNamed<K extends Kind>(
  snapshot: ConfigSnapshot,
  caller: Viewer,
  kind: K,
  name: string,
): ConfigEntry<K> | undefined {
  const held = snapshot.holderOf(kind, caller.tenant, name) as ConfigEntry<K> | undefined
  if (!caller.isSystemAdmin || kinds[kind].names === 'everywhere') return held
  const [first, second] = snapshot.list(kind).filter((entry) => entry.name === name)
  return second === undefined ? first : undefined
}

export function findPart<K extends PartKind>(
  { caller, ports }: Context,
  kind: K,
  id: string,
): ConfigPart<K> | undefined {
  const found = ports.config.snapshot().part(kind, id)
  return found !== undefined && sees(caller, found.owner.tenant) ? found : undefined
}

/** Sorted by name, then by id. */
export function listObjects<K extends Kind>(
  { caller, ports }: Context,
  kind: K,
): readonly ConfigEntry<K>[] {
  const all = ports.config.snapshot().list(kind)
  return caller.isSystemAdmin ? all : all.filter(({ tenant }) => tenant === caller.tenant)
}

/** Finds a part of an object; throws when it is absent, which a write has just excluded. */
export function partIn<K extends PartKind>(
  kind: K,
  owner: ConfigEntry,
  id: string,
): PartOf[K] & { readonly uid: string } {
  const part = partsIn(kind, owner).find(({ uid }) => uid === id)
  if (part === undefined) throw new Error(`the ${kind} ${id} was written and is not there`)
  return part
}

/** The target of an operation: the id, limited to what the caller may see. */
export function targetOf(caller: Caller, uid: string): PartTarget {
  const tenant = visibleTenant(caller)
  return tenant === null ? { uid } : { uid, tenant }
}
