// Defines an accepted object as the API reads it: defaults and ids filled in.
import { hash } from 'node:crypto'
import { objectUid } from '#compiler/read/identity.ts'
import { roleOf } from '#compiler/read/layout.ts'
import type { Kind, ObjectOf } from '#schemas/kinds.ts'
import { partKindsOf, partSpecs, withUids } from './parts.ts'
import type { PartKind, PartOf } from './parts.ts'

/** An accepted object: plain data that can cross threads. */
export interface ConfigEntry<K extends Kind = Kind> {
  readonly kind: K
  /** '' for the settings and for response policies. */
  readonly tenant: string
  /** Lower case; written in the file, or derived from the name. */
  readonly uid: string
  readonly name: string
  readonly path: string
  /** Git's id of the file's content. */
  readonly blobId: string
  /** Every field with a default has a value; `metadata` and each part have their `uid`. */
  readonly object: ObjectOf[K]
}

export interface ConfigPart<K extends PartKind = PartKind> {
  readonly owner: ConfigEntry
  readonly part: PartOf[K] & { readonly uid: string }
  /** Position among the owner's parts of this kind. */
  readonly position: number
}

/**
 * Builds the entry of a validated object.
 * @param object result of the validator; it is not changed
 */
export function configEntry(
  path: string,
  blobId: string,
  kind: Kind,
  object: ObjectOf[Kind],
): ConfigEntry {
  const role = roleOf(path)
  const tenant = role.role === 'tenant' ? role.tenant : ''
  const { name, overlap } = object.metadata
  const uid = object.metadata.uid?.toLowerCase() ?? objectUid(tenant, kind, name)
  const complete = {
    ...object,
    metadata: { name, uid, ...(overlap === undefined ? {} : { overlap }) },
    spec: specWithUids(kind, uid, object.spec),
  } as ObjectOf[Kind]
  return { kind, tenant, uid, name, path, blobId, object: complete }
}

/**
 * Returns the spec with ids in its parts. Without parts it is the same object: most objects of a
 * large configuration have none.
 */
function specWithUids(kind: Kind, uid: string, spec: ObjectOf[Kind]['spec']): object {
  const partKinds = partKindsOf(kind)
  if (partKinds.length === 0) return spec
  const withParts: Record<string, unknown> = { ...spec }
  for (const partKind of partKinds) {
    const { list } = partSpecs[partKind]
    const parts = withParts[list] as readonly PartOf[PartKind][] | undefined
    if (parts !== undefined) withParts[list] = withUids(partKind, { uid, spec }, parts)
  }
  return withParts
}

type WithUid<K extends PartKind> = PartOf[K] & { readonly uid: string }

/** Lists the parts of one kind; empty for an object that has none. */
export function partsIn<K extends PartKind>(kind: K, entry: ConfigEntry): readonly WithUid<K>[] {
  if (partSpecs[kind].owner !== entry.kind) return []
  const spec = entry.object.spec as Record<string, unknown>
  const parts = spec[partSpecs[kind].list] as readonly WithUid<K>[] | undefined
  return parts ?? []
}

/** A strong entity tag (RFC 9110 section 8.8.3) of an object or a part, without the quotes. */
export function etagOf(value: object): string {
  return hash('sha256', JSON.stringify(value)).slice(0, 24)
}
