// Reads and edits the objects of a draft in the form that their files have.
import type { JsonObject } from '#compiler/yaml/text.ts'
import type { Draft, RawObject } from '#config/draft.ts'
import type { ConfigEntry } from '#config/entry.ts'
import type { Fault } from '#config/fault.ts'
import type { Objects } from '#config/overlays/targets.ts'
import type { Result } from '#lib/result.ts'

/** Writes the id of a touched object to its file, so that it survives the next rename by hand. */
export function pinned(entry: ConfigEntry, raw: RawObject): JsonObject {
  return raw.metadata['uid'] === undefined ? { ...raw.metadata, uid: entry.uid } : raw.metadata
}

export function rawParts(raw: RawObject, list: string): readonly JsonObject[] {
  return (raw.spec[list] ?? []) as readonly JsonObject[]
}

/** Changes fields of an object's spec. */
export function withSpec<E extends ConfigEntry>(
  draft: Draft,
  entry: E,
  fields: JsonObject,
): Result<E, Fault> {
  const raw = draft.raw(entry)
  const metadata = pinned(entry, raw)
  const spec = { ...raw.spec, ...fields }
  return draft.change(entry, { ...raw, metadata, spec }) as Result<E, Fault>
}

/** Returns a view of the draft for look-ups. */
export function objectsOf(draft: Draft): Objects {
  return {
    get: (kind, uid) => draft.get(kind, uid),
    holderOf: (kind, tenant, name) => draft.holderOf(kind, tenant, name),
    part: (kind, uid) => draft.part(kind, { uid }),
  }
}

/** Whether a text could name this pool: a quick test before the exact one. */
export function mayName(text: string, { name, uid }: ConfigEntry<'Pool'>): boolean {
  return text === name || text.toLowerCase() === uid
}
