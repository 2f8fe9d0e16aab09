// Reads and edits the objects of a draft in the form that their files have.
import type { JsonObject } from '#compiler/yaml/text.ts'
import type { Draft, RawObject } from '#config/draft.ts'
import type { ConfigEntry } from '#config/entry.ts'
import type { Fault } from '#config/fault.ts'
import type { Objects } from '#config/overlays/targets.ts'
import type { Result } from '#lib/result.ts'

/** The API writes the id of what it touches: it must survive the next rename by hand. */
export function pinned(entry: ConfigEntry, raw: RawObject): JsonObject {
  return raw.metadata['uid'] === undefined ? { ...raw.metadata, uid: entry.uid } : raw.metadata
}

export function rawParts(raw: RawObject, list: string): readonly JsonObject[] {
  return (raw.spec[list] ?? []) as readonly JsonObject[]
}

/** Sets fields of the spec. */
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

/** The draft, to be looked up in. */
export function objectsOf(draft: Draft): Objects {
  return {
    get: (kind, uid) => draft.get(kind, uid),
    holderOf: (kind, tenant, name) => draft.holderOf(kind, tenant, name),
    part: (kind, uid) => draft.part(kind, { uid }),
  }
}

/** Whether a text that names a pool can name this one: says no quickly where it cannot. */
export function mayName(text: string, { name, uid }: ConfigEntry<'Pool'>): boolean {
  return text === name || text.toLowerCase() === uid
}
