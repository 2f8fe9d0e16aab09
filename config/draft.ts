// Defines the draft that operations change: the accepted objects, overlaid with new ones.
import { namedPoolsOf } from '#compiler/tree/fallback.ts'
import { sameValue } from '#compiler/yaml/same-value.ts'
import type { JsonObject, JsonValue } from '#compiler/yaml/text.ts'
import { isFields } from '#lib/text/json.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { kindNames, tenantPathOf } from '#schemas/kinds.ts'
import type { Kind } from '#schemas/kinds.ts'
import type { ConfigEntry, ConfigPart } from './entry.ts'
import { nameKey, partOf, partUids } from './object-index.ts'
import type { ConfigIndex } from './object-index.ts'
import type { PartKind } from './parts.ts'
import { checkObject } from './check-object.ts'
import { fault, faultOf } from './fault.ts'
import type { Fault } from './fault.ts'
import type { TreePaths } from './free-path.ts'
import type { PartTarget, Target } from './operation.ts'

/** Content of a file as it is to be written, without defaults. */
export type RawObject = JsonObject & {
  readonly metadata: JsonObject
  readonly spec: JsonObject
}

interface DraftParts {
  readonly base: ConfigIndex
  /** Returns the content of an object's file. */
  readonly rawOf: (entry: ConfigEntry) => RawObject
  readonly paths: TreePaths
}

interface Changed {
  readonly entry: ConfigEntry
  readonly raw: RawObject
}

export class Draft {
  readonly #parts: DraftParts
  /** Changed objects by kind and id; null: removed. */
  readonly #objects = new Map<string, Changed | null>()
  readonly #names = new Map<string, string | null>()
  /** Id of a part to the kind and id of its owner; null: removed. */
  readonly #owners = new Map<string, string | null>()
  readonly #paths = new Set<string>()
  readonly #undo: (() => void)[] = []
  /** Objects that the request under way has changed, by kind and id, as they were before. */
  readonly #before = new Map<string, ConfigEntry>()
  /** Kinds and ids of objects that the request under way has changed, made or removed. */
  readonly #ofRequest = new Set<string>()
  /** Kinds and ids of objects that the request under way has made. */
  readonly #made = new Set<string>()
  /** Paths of changed files, in order. */
  readonly #touched: string[] = []
  /** Path of the file being changed. */
  #path = ''

  constructor(parts: DraftParts) {
    this.#parts = parts
  }

  /** Begins a request. @returns a mark for `rollBack` */
  begin(): number {
    this.#before.clear()
    this.#ofRequest.clear()
    this.#made.clear()
    return this.#undo.length
  }

  /** Returns the object before the request; a new object as it is now. */
  asBegun(entry: ConfigEntry): ConfigEntry {
    return this.#before.get(keyOf(entry)) ?? entry
  }

  /** Returns the objects that the request under way has changed, before and now. */
  changesOfRequest(): Record<'before' | 'now', readonly ConfigEntry[]> {
    const now = [...this.#ofRequest].flatMap((key) => this.#objects.get(key)?.entry ?? [])
    const before = [...this.#before.values()].filter((entry) => !this.#made.has(keyOf(entry)))
    return { before, now }
  }

  /** Returns paths of files changed since a mark. */
  touchedSince(mark: number): ReadonlySet<string> {
    return new Set(this.#touched.slice(mark))
  }

  rollBack(mark: number): void {
    while (this.#undo.length > mark) this.#undo.pop()!()
    this.#touched.length = mark
  }

  get<K extends Kind>(kind: K, uid: string): ConfigEntry<K> | undefined {
    const changed = this.#objects.get(`${kind} ${uid.toLowerCase()}`)
    if (changed === null) return undefined
    return (changed?.entry as ConfigEntry<K> | undefined) ?? this.#parts.base.get(kind, uid)
  }

  holderOf(kind: Kind, tenant: string, name: string): ConfigEntry | undefined {
    const uid = this.#names.get(nameKey(kind, tenant, name))
    if (uid === null) return undefined
    return uid === undefined
      ? this.#unchanged(this.#parts.base.holderOf(kind, tenant, name))
      : this.get(kind, uid)
  }

  find<K extends Kind>(kind: K, target: Target): ConfigEntry<K> | undefined {
    if ('uid' in target) {
      const entry = this.get(kind, target.uid)
      const isOther = target.tenant !== undefined && entry?.tenant !== target.tenant
      return isOther ? undefined : entry
    }
    const entry = this.holderOf(kind, target.tenant, target.name)
    return entry?.tenant === target.tenant ? (entry as ConfigEntry<K>) : undefined
  }

  part<K extends PartKind>(kind: K, { uid, tenant }: PartTarget): ConfigPart<K> | undefined {
    const owner = this.#owners.get(uid.toLowerCase())
    const [ownerKind = '', ownerUid = ''] = owner?.split(' ') ?? []
    const known = owner === undefined ? this.#parts.base.part(kind, uid)?.owner : undefined
    const entry =
      known === undefined ? this.get(ownerKind as Kind, ownerUid) : this.#unchanged(known)
    const isOther = tenant !== undefined && entry?.tenant !== tenant
    return entry === undefined || isOther ? undefined : partOf(kind, entry, uid)
  }

  /** Lists the objects of a kind, in no order. */
  entries<K extends Kind>(kind: K): readonly ConfigEntry<K>[] {
    const ids = new Set<string>()
    for (const key of this.#objects.keys()) {
      if (key.startsWith(`${kind} `)) ids.add(key.slice(kind.length + 1))
    }
    const base = this.#parts.base.entries(kind)
    if (ids.size === 0) return base
    return [...base.filter(({ uid }) => !ids.has(uid)), ...this.#changed(kind)]
  }

  /** Lists services that use a pool of this name, or fall back on it, in no order. */
  servicesOf(poolName: string): readonly ConfigEntry<'Service'>[] {
    const unchanged = this.#parts.base
      .servicesOf(poolName)
      .filter((entry) => !this.#objects.has(keyOf(entry)))
    const changed = this.#changed('Service')
    const now = changed.filter(({ object }) => namedPoolsOf(object.spec).includes(poolName))
    return [...unchanged, ...now]
  }

  /**
   * Whether no object of a tenant is left. Objects for all tenants alone, such as rules for foreign
   * names, are no configuration.
   */
  isEmpty(): boolean {
    // Asked after each operation, of which a request may have thousands.
    for (const changed of this.#objects.values()) {
      if (changed !== null && isConfiguration(changed.entry.kind)) return false
    }
    const { base } = this.#parts
    return kindNames
      .filter(isConfiguration)
      .every((kind) => base.entries(kind).every((entry) => this.#objects.has(keyOf(entry))))
  }

  raw(entry: ConfigEntry): RawObject {
    return this.#objects.get(keyOf(entry))?.raw ?? this.#parts.rawOf(entry)
  }

  isTaken = (path: string): boolean =>
    this.#paths.has(path.toLowerCase()) || this.#parts.paths.isTaken(path)

  isFile = (path: string): boolean => this.#parts.paths.isFile(path)

  /** Adds an object. Errors: its file would not be accepted, or its id is taken. */
  add(kind: Kind, path: string, raw: RawObject): Result<ConfigEntry, Fault> {
    const checked = checkObject(kind, path, raw)
    if (!checked.ok) return err(faultOf(checked.error))
    if (this.get(kind, checked.value.uid) !== undefined) {
      return err(fault('conflict', `There is a ${kind} with this id already.`))
    }
    const key = keyOf(checked.value)
    if (!this.#before.has(key)) this.#made.add(key)
    this.#path = path
    this.#set(this.#paths, path.toLowerCase())
    this.#place(undefined, checked.value, raw)
    return ok(checked.value)
  }

  /** Changes an object; does nothing when it is equal already. */
  change(entry: ConfigEntry, raw: RawObject): Result<ConfigEntry, Fault> {
    const checked = checkObject(entry.kind, entry.path, raw)
    if (!checked.ok) return err(faultOf(checked.error))
    if (sameValue(checked.value.object, entry.object)) return ok(entry)
    this.#place(entry, checked.value, raw)
    return ok(checked.value)
  }

  remove(entry: ConfigEntry): void {
    this.#path = entry.path
    this.#remember(entry)
    this.#unname(entry)
    this.#put(this.#objects, keyOf(entry), null)
  }

  /** Returns the files to write, by path; null removes the file. */
  changes(): Map<string, Changed | null> {
    const files = new Map<string, Changed | null>()
    for (const [key, changed] of this.#objects) {
      const [kind = '', uid = ''] = key.split(' ')
      const before = this.#parts.base.get(kind as Kind, uid)
      if (changed === null) {
        if (before !== undefined && !files.has(before.path)) files.set(before.path, null)
      } else if (before === undefined || !sameValue(changed.entry.object, before.object)) {
        files.set(changed.entry.path, changed)
      }
    }
    return files
  }

  #changed<K extends Kind>(kind: K): ConfigEntry<K>[] {
    const entries: ConfigEntry<K>[] = []
    for (const changed of this.#objects.values()) {
      if (changed?.entry.kind === kind) entries.push(changed.entry as ConfigEntry<K>)
    }
    return entries
  }

  #unchanged(entry: ConfigEntry | undefined): ConfigEntry | undefined {
    return entry === undefined ? undefined : this.get(entry.kind, entry.uid)
  }

  #place(before: ConfigEntry | undefined, entry: ConfigEntry, raw: RawObject): void {
    this.#path = entry.path
    this.#remember(before)
    if (before !== undefined) {
      this.#unname(before)
      if (before.uid !== entry.uid) this.#put(this.#objects, keyOf(before), null)
    }
    this.#put(this.#objects, keyOf(entry), { entry, raw })
    this.#ofRequest.add(keyOf(entry))
    this.#put(this.#names, nameKey(entry.kind, entry.tenant, entry.name), entry.uid)
    for (const uid of partUids(entry)) this.#put(this.#owners, uid, keyOf(entry))
  }

  /**
   * Keeps the object of before the request's first change. An object that the request made has
   * none.
   */
  #remember(entry: ConfigEntry | undefined): void {
    if (entry === undefined) return
    const key = keyOf(entry)
    if (!this.#before.has(key)) this.#before.set(key, entry)
  }

  #unname(entry: ConfigEntry): void {
    this.#put(this.#names, nameKey(entry.kind, entry.tenant, entry.name), null)
    for (const uid of partUids(entry)) this.#put(this.#owners, uid, null)
  }

  #put<V>(map: Map<string, V>, key: string, value: V): void {
    const before = map.get(key)
    this.#note(() => (before === undefined ? map.delete(key) : map.set(key, before)))
    map.set(key, value)
  }

  #set(set: Set<string>, value: string): void {
    this.#note(() => set.delete(value))
    set.add(value)
  }

  #note(undo: () => void): void {
    this.#undo.push(undo)
    this.#touched.push(this.#path)
  }
}

const isConfiguration = (kind: Kind): boolean =>
  kind === 'Settings' || tenantPathOf(kind) !== undefined

export function keyOf({ kind, uid }: ConfigEntry): string {
  return `${kind} ${uid}`
}

/**
 * Applies a merge patch (RFC 7396): objects are merged at every depth, null removes, other values
 * replace.
 */
export function merged(fields: JsonObject, patch: JsonObject): JsonObject {
  const deep = Object.entries(patch).map(([key, value]): [string, JsonValue] => {
    const before = Object.hasOwn(fields, key) ? fields[key] : undefined
    return [key, isFields(value) ? merged(isFields(before) ? before : {}, value) : value]
  })
  return patched(fields, Object.fromEntries(deep))
}

/** Replaces whole fields; null removes a field. */
export function patched(fields: JsonObject, patch: JsonObject): JsonObject {
  const next: Record<string, JsonValue> = { ...fields }
  for (const [key, value] of Object.entries(patch)) {
    // `__proto__` becomes an ordinary field, which is then refused as unknown.
    Object.defineProperty(next, key, {
      value,
      enumerable: true,
      writable: true,
      configurable: true,
    })
    if (value === null) Reflect.deleteProperty(next, key)
  }
  return next
}
