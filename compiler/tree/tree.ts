// The objects of one commit, indexed by kind and name, for the tree rules.
import type { RedirectModel } from '#bundle/redirects/redirect-table.ts'
import type {
  PoolModel,
  ResponseRuleModel,
  RrsetModel,
  ServiceModel,
} from '#bundle/format/model.ts'
import { SteadyList } from '#lib/sequence/steady-list.ts'
import { forEachKind, kindNames, kinds } from '#schemas/kinds.ts'
import type { Kind, ObjectOf } from '#schemas/kinds.ts'
import { keyAt, valueAt } from '#diagnostics/diagnostic.ts'
import type { Place, YamlPath } from '#diagnostics/diagnostic.ts'
import type { DiagnosticCode } from '#diagnostics/diagnostics.ts'
import type { FindingDetail } from '#diagnostics/finding.ts'
import { EntryIndex } from './entry-index.ts'
import { ServicePools } from './service-pools.ts'
import { objectUid } from '#compiler/read/identity.ts'
import type { ReadFile } from '#compiler/read/read-file.ts'
import { uidsIn } from '#compiler/values/written-uids.ts'

/** An object with its place. */
export interface Entry<K extends Kind = Kind> {
  readonly path: string
  /** The tenant's folder; empty for the settings and for policies. */
  readonly tenant: string
  readonly object: ObjectOf[K]
  readonly file: ReadFile
  readonly uid: string
  readonly derived: Derived
}

/** Results of later stages, kept as long as the entry stays in its place. */
interface Derived {
  pool?: PoolModel
  /** For a pool: the last round of `poolsUsed` in which a service named it. */
  usedInRound?: number
  /** For a service; valid while the rows it refers to are the same. */
  service?: ServiceModel
  /** For a pool: the weak spot for the demand judged last. */
  weakSpot?: {
    readonly isWeighted: boolean
    readonly fallback: Entry<'Pool'> | undefined
    readonly found: string | undefined
  }
  /** Undefined for a rule with an invalid name. */
  responseRules?: readonly (ResponseRuleModel | undefined)[]
  /** Undefined where the host is invalid. */
  redirect?: RedirectModel | undefined
  /** For a file of records; valid while its zone has this position. */
  records?: { readonly zone: number; readonly rrsets: readonly PlannedRrset[] }
}

/** A record set of an entry. */
export interface PlannedRrset {
  readonly entry: Entry<'Records'>
  /** Position in the `records` of its file. */
  readonly index: number
  /** For each rdata its position in the field `values` of the file. */
  readonly from: readonly number[]
  readonly typeName: string
  readonly model: RrsetModel
}

export interface Tree {
  readonly settings: Entry<'Settings'> | undefined
  /** By kind, sorted by path; an unchanged list is the same object as in the previous tree. */
  readonly of: { readonly [K in Kind]: readonly Entry<K>[] }
  /**
   * The first pool of the name that a service gives, of any tenant; by position in `of.Service`.
   */
  readonly poolOf: readonly (Entry<'Pool'> | undefined)[]
  /** The first pool of each name. These maps are unordered. */
  readonly poolNamed: ReadonlyMap<string, Entry<'Pool'>>
  readonly serviceNamed: ReadonlyMap<string, Entry<'Service'>>
  /** The first service of each domain, by its `domainKey`. */
  readonly serviceAt: ReadonlyMap<string, Entry<'Service'>>
  /** Tenant folders, each with the first file in it. */
  readonly folders: ReadonlyMap<string, PlacedFile>
  /** No uid is used twice, by objects or by parts with a declared one. */
  readonly hasUniqueUids: boolean
  /** File names of a tenant's records are unique; there may be many thousands. */
  readonly hasUniqueRecordNames: boolean
  readonly faulty: FaultyFiles
}

/** What unreadable files may have declared: rules must not report it as missing. */
interface FaultyFiles {
  readonly settings: boolean
  /** `tenant/name` of pools. */
  readonly poolNames: ReadonlySet<string>
  /** Tenants with a file whose name could not be read either. */
  readonly anyPool: ReadonlySet<string>
  readonly tenants: ReadonlySet<string>
  /** True when an unreadable file may be a service. */
  readonly services: boolean
  /** True when an unreadable file may hold records. */
  readonly records: boolean
}

/** A file with its place in the layout; the same object while neither changes. */
export interface PlacedFile {
  readonly path: string
  readonly tenant: string
  readonly file: ReadFile
  /** The entry that it declares, built on demand. */
  entry?: Entry
}

/** A place in the file of an entry. */
export interface EntryPlace {
  readonly path: string
  readonly file: ReadFile
  readonly place: Place
}

/** Reports a finding of a rule between files. */
export type TreeReport = (
  code: DiagnosticCode,
  at: EntryPlace,
  detail?: Omit<FindingDetail, 'other'> & { readonly other?: EntryPlace },
) => void

export const placeIn = ({ path, file }: PlacedFile, place: Place): EntryPlace => ({
  ...{ path, file, place },
})
export const valueIn = (entry: PlacedFile, ...path: YamlPath): EntryPlace =>
  placeIn(entry, valueAt(...path))
export const keyIn = (entry: PlacedFile, ...path: YamlPath): EntryPlace =>
  placeIn(entry, keyAt(...path))

/** Caches of the last tree for the next one; the result does not depend on them. */
export class TreeMemory {
  readonly lists = forEachKind(() => new SteadyList<Entry>())
  readonly pools = new EntryIndex<Entry<'Pool'>>(nameOf)
  readonly services = new EntryIndex<Entry<'Service'>>(nameOf)
  readonly poolOf = new ServicePools<Entry<'Pool'>>()
  readonly domains = new EntryIndex<Entry<'Service'>>(({ file: { domainKey } }) =>
    domainKey === undefined ? [] : [domainKey],
  )
  readonly records = new EntryIndex<Entry<'Records'>>(({ tenant, object }) => [
    `${tenant}/${object.metadata.name}`,
  ])
  readonly uids = new EntryIndex<PlacedFile>(({ entry }) =>
    entry === undefined ? [] : uidsIn(entry.uid, entry.object),
  )
}

function nameOf({ object }: Entry): readonly string[] {
  return [object.metadata.name]
}

/**
 * @param files sorted by path, so that "the first" is well defined
 * @param memory maps and `poolOf` of the previous tree are reused, and no longer valid for it
 */
export function buildTree(files: readonly PlacedFile[], memory = new TreeMemory()): Tree {
  const folders = new Map<string, PlacedFile>()
  for (const kind of kindNames) memory.lists[kind].begin()
  let lastTenant = ''
  for (let i = 0; i < files.length; i++) {
    const placed = files[i]!
    const { tenant, file } = placed
    // Files of a tenant are adjacent.
    if (tenant !== lastTenant && tenant !== '' && !folders.has(tenant)) folders.set(tenant, placed)
    lastTenant = tenant
    if (file.object === undefined || file.kind === undefined) continue
    const entry = (placed.entry ??= entryOf(placed, file.kind, file.object))
    memory.lists[file.kind].add(entry)
  }
  const entries = forEachKind((kind) => memory.lists[kind].take()) as unknown as Tree['of']
  const poolNamed = memory.pools.firstOf(entries.Pool)
  return {
    settings: entries.Settings[0],
    of: entries,
    poolOf: memory.poolOf.of(entries.Service, entries.Pool, poolNamed),
    poolNamed,
    serviceNamed: memory.services.firstOf(entries.Service),
    serviceAt: memory.domains.firstOf(entries.Service),
    folders,
    hasUniqueUids: memory.uids.isUnique(files),
    hasUniqueRecordNames: memory.records.isUnique(entries.Records),
    faulty: faultyFiles(files),
  }
}

function entryOf({ path, tenant, file }: PlacedFile, kind: Kind, object: ObjectOf[Kind]): Entry {
  const { uid: written, name } = object.metadata
  const uid = written?.toLowerCase() ?? objectUid(tenant, kind, name)
  file.memo.uid = uid
  return { path, tenant, file, object, uid, derived: {} }
}

function faultyFiles(files: readonly PlacedFile[]): FaultyFiles {
  const poolNames = new Set<string>()
  const anyPool = new Set<string>()
  const tenants = new Set<string>()
  let settings = false
  let services = false
  let records = false
  for (const { path, tenant, file } of files) {
    if (file.object !== undefined) continue
    if (tenant === '') {
      settings ||= path === kinds.Settings.path
      continue
    }
    if (file.kind === 'Service' || file.kind === undefined) services = true
    if (file.kind === 'Records' || file.kind === undefined) records = true
    // A file of unknown kind may be a pool with a misspelt kind, or the Tenant object.
    if (file.kind === 'Tenant' || file.kind === undefined) tenants.add(tenant)
    if (file.kind !== 'Pool' && file.kind !== undefined) continue
    if (file.name === undefined) anyPool.add(tenant)
    else poolNames.add(`${tenant}/${file.name}`)
  }
  return { settings, poolNames, anyPool, tenants, services, records }
}
