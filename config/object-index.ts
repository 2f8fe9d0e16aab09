// Indexes the objects of one accepted commit by id, by name and by part. The index is immutable.
import { namedPoolsOf } from '#compiler/tree/fallback.ts'
import { isNaming, kindNames, kinds, namingKinds } from '#schemas/kinds.ts'
import type { Kind } from '#schemas/kinds.ts'
import { BucketMap } from '#lib/sequence/bucket-map.ts'
import { partsIn } from './entry.ts'
import type { ConfigEntry, ConfigPart } from './entry.ts'
import { NameIndex } from './name-index.ts'
import { partKindsOf } from './parts.ts'
import type { PartKind } from './parts.ts'
import { byName } from '#lib/sequence/order.ts'
import { getOrInsert } from '#lib/sequence/get-or-insert.ts'

/** Changes of one commit to the objects. */
export interface ConfigDelta {
  /** Id of the commit. */
  readonly revision: string
  /** New and changed objects. */
  readonly changed: readonly ConfigEntry[]
  readonly removed: readonly { readonly kind: Kind; readonly uid: string }[]
}

export interface ConfigSnapshot {
  /** Id of the accepted commit; '' before the first. */
  readonly revision: string
  /**
   * Lists objects by name, then by id. The array stays the same while no object of the kind
   * changes.
   */
  readonly list: <K extends Kind>(kind: K) => readonly ConfigEntry<K>[]
  readonly get: <K extends Kind>(kind: K, uid: string) => ConfigEntry<K> | undefined
  /**
   * Finds an object by name. Pools and services have one name space for all tenants, but `tenant`
   * must still match.
   */
  readonly find: <K extends Kind>(
    kind: K,
    tenant: string,
    name: string,
  ) => ConfigEntry<K> | undefined
  /** Returns the object with a name that is unique across tenants, or within `tenant`. */
  readonly holderOf: (kind: Kind, tenant: string, name: string) => ConfigEntry | undefined
  readonly part: <K extends PartKind>(kind: K, uid: string) => ConfigPart<K> | undefined
  /** Lists services that use a pool of this name, or fall back on it, in no order. */
  readonly servicesOf: (poolName: string) => readonly ConfigEntry<'Service'>[]
  /** Returns the index of names, which is built at the first call and updated afterwards. */
  readonly names: () => NameIndex
  /** Returns a new snapshot with the changes of a commit. */
  readonly with: (delta: ConfigDelta) => ConfigSnapshot
}

export const globalNames: readonly Kind[] = Object.freeze(
  kindNames.filter((kind) => kinds[kind].names === 'everywhere'),
)

/** Returns the key within which a name must be unique. */
export function nameKey(kind: Kind, tenant: string, name: string): string {
  return globalNames.includes(kind) ? `${kind}//${name}` : `${kind}/${tenant}/${name}`
}

interface Maps {
  readonly entries: ReadonlyMap<Kind, BucketMap<ConfigEntry>>
  /** Id by name key. */
  readonly names: BucketMap<string>
  /** Owner by part id. */
  readonly owners: BucketMap<string>
  readonly servicesOfPools: ListsByKey
}

export class ConfigIndex implements ConfigSnapshot {
  static readonly empty = new ConfigIndex('', {
    entries: new Map(),
    names: BucketMap.empty(),
    owners: BucketMap.empty(),
    servicesOfPools: BucketMap.empty(),
  })

  readonly revision: string
  readonly #maps: Maps
  readonly #lists = new Map<Kind, readonly ConfigEntry[]>()
  #names: NameIndex | undefined

  private constructor(revision: string, maps: Maps) {
    this.revision = revision
    this.#maps = maps
  }

  get = <K extends Kind>(kind: K, uid: string): ConfigEntry<K> | undefined =>
    this.#maps.entries.get(kind)?.get(uid.toLowerCase()) as ConfigEntry<K> | undefined

  find = <K extends Kind>(kind: K, tenant: string, name: string): ConfigEntry<K> | undefined => {
    const entry = this.holderOf(kind, tenant, name)
    return entry?.tenant === tenant ? (entry as ConfigEntry<K>) : undefined
  }

  holderOf = (kind: Kind, tenant: string, name: string): ConfigEntry | undefined => {
    const uid = this.#maps.names.get(nameKey(kind, tenant, name))
    return uid === undefined ? undefined : this.get(kind, uid)
  }

  part = <K extends PartKind>(kind: K, uid: string): ConfigPart<K> | undefined => {
    const [ownerKind, ownerUid = ''] = this.#maps.owners.get(uid.toLowerCase())?.split(' ') ?? []
    const owner = this.get(ownerKind as Kind, ownerUid)
    return owner === undefined ? undefined : partOf(kind, owner, uid)
  }

  list = <K extends Kind>(kind: K): readonly ConfigEntry<K>[] => {
    let list = this.#lists.get(kind)
    if (list === undefined) {
      list = [...this.entries(kind)].sort(byName)
      this.#lists.set(kind, list)
    }
    return list as readonly ConfigEntry<K>[]
  }

  /** Lists the objects of a kind, in no order. */
  entries<K extends Kind>(kind: K): readonly ConfigEntry<K>[] {
    return (this.#maps.entries.get(kind)?.values() ?? []) as ConfigEntry<K>[]
  }

  servicesOf(poolName: string): readonly ConfigEntry<'Service'>[] {
    const uids = this.#maps.servicesOfPools.get(poolName) ?? []
    return uids.map((uid) => this.get('Service', uid)!)
  }

  names = (): NameIndex => {
    this.#names ??= NameIndex.empty.with(
      [],
      namingKinds.flatMap((kind): readonly ConfigEntry[] => this.entries(kind)),
    )
    return this.#names
  };

  *all(): Generator<ConfigEntry> {
    for (const entries of this.#maps.entries.values()) yield* entries.values()
  }

  with({ revision, changed, removed }: ConfigDelta): ConfigIndex {
    const perKind = new Map<Kind, [string, ConfigEntry | undefined][]>()
    const names: [string, string | undefined][] = []
    const owners: [string, string | undefined][] = []
    const servicesOfPools = new ListChanges()
    const set = (kind: Kind, uid: string, entry: ConfigEntry | undefined): void => {
      getOrInsert(perKind, kind, () => []).push([uid, entry])
    }
    // Removals come before additions, since a name may have changed its object.
    const gone = [...removed, ...changed].map(({ kind, uid }) => this.get(kind, uid))
    for (const entry of gone) {
      if (entry === undefined) continue
      set(entry.kind, entry.uid, undefined)
      names.push([nameKey(entry.kind, entry.tenant, entry.name), undefined])
      for (const uid of partUids(entry)) owners.push([uid, undefined])
      for (const pool of poolsNamedBy(entry)) servicesOfPools.remove(pool, entry.uid)
    }
    for (const entry of changed) {
      set(entry.kind, entry.uid, entry)
      names.push([nameKey(entry.kind, entry.tenant, entry.name), entry.uid])
      for (const uid of partUids(entry)) owners.push([uid, `${entry.kind} ${entry.uid}`])
      for (const pool of poolsNamedBy(entry)) servicesOfPools.add(pool, entry.uid)
    }
    const entries = new Map(this.#maps.entries)
    for (const [kind, changes] of perKind) {
      entries.set(kind, (entries.get(kind) ?? BucketMap.empty<ConfigEntry>()).with(changes))
    }
    const next = new ConfigIndex(revision, {
      entries,
      names: this.#maps.names.with(names),
      owners: this.#maps.owners.with(owners),
      servicesOfPools: servicesOfPools.appliedTo(this.#maps.servicesOfPools),
    })
    for (const [kind, list] of this.#lists) if (!perKind.has(kind)) next.#lists.set(kind, list)
    const went = gone.filter((entry) => entry !== undefined && isNaming(entry.kind))
    next.#names = this.#names?.with(went as ConfigEntry[], changed)
    return next
  }

  /** Returns the changes that lead from this index to `entries`. */
  deltaTo(revision: string, entries: readonly ConfigEntry[]): ConfigDelta {
    const wanted = new Set(entries.map(({ kind, uid }) => `${kind} ${uid}`))
    const changed = entries.filter((entry) => {
      const old = this.get(entry.kind, entry.uid)
      return old?.blobId !== entry.blobId || old.path !== entry.path
    })
    const removed = [...this.all()]
      .filter(({ kind, uid }) => !wanted.has(`${kind} ${uid}`))
      .map(({ kind, uid }) => ({ kind, uid }))
    return { revision, changed, removed }
  }
}

export function partOf<K extends PartKind>(
  kind: K,
  owner: ConfigEntry,
  uid: string,
): ConfigPart<K> | undefined {
  const parts = partsIn(kind, owner)
  const position = parts.findIndex((part) => part.uid === uid.toLowerCase())
  return position === -1 ? undefined : { owner, part: parts[position]!, position }
}

export function partUids(entry: ConfigEntry): string[] {
  return partKindsOf(entry.kind).flatMap((kind) => partsIn(kind, entry).map(({ uid }) => uid))
}

function poolsNamedBy(entry: ConfigEntry): readonly string[] {
  return entry.kind === 'Service' ? namedPoolsOf((entry as ConfigEntry<'Service'>).object.spec) : []
}

type ListsByKey = BucketMap<readonly string[]>

/**
 * Collects additions to lists and removals from them, so that each list, which may have thousands
 * of items, is copied once.
 */
class ListChanges {
  readonly #changes = new Map<string, { readonly went: Set<string>; readonly came: Set<string> }>()

  remove(key: string, item: string): void {
    this.#of(key).went.add(item)
  }

  /** Adds an item; called after all removals. */
  add(key: string, item: string): void {
    this.#of(key).came.add(item)
  }

  appliedTo(lists: ListsByKey): ListsByKey {
    return lists.with(
      Array.from(this.#changes, ([key, { went, came }]) => {
        const list = [...(lists.get(key) ?? []).filter((item) => !went.has(item)), ...came]
        return [key, list.length === 0 ? undefined : list] as const
      }),
    )
  }

  #of(key: string) {
    const change = this.#changes.get(key) ?? { went: new Set(), came: new Set() }
    this.#changes.set(key, change)
    return change
  }
}
