// Views of configurations without a repository.
import { checkObject } from '#config/check-object.ts'
import type { ConfigEntry } from '#config/entry.ts'
import { ConfigIndex } from '#config/object-index.ts'
import type { ConfigView } from '#config/view.ts'
import type { JsonObject } from '#compiler/yaml/text.ts'
import type { Kind } from '#schemas/kinds.ts'
import { apiVersion } from '#schemas/objects/metadata.ts'

/** A view with these objects that never changes. */
export function viewOf(...changed: readonly ConfigEntry[]): ConfigView {
  const snapshot = ConfigIndex.empty.with({ revision: '', changed, removed: [] })
  return { isReady: () => true, snapshot: () => snapshot, onChange: () => () => undefined }
}

/** An object as the accepted configuration has it. */
export function entryOf(kind: Kind, path: string, name: string, spec: JsonObject): ConfigEntry {
  const entry = checkObject(kind, path, { apiVersion, kind, metadata: { name }, spec })
  if (!entry.ok) throw new Error(JSON.stringify(entry.error))
  return entry.value
}
