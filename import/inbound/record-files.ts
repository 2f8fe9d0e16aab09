// Plans the operations that bring the files of a zone's records up to a transfer.
import type { InboundSet } from './inbound-set.ts'
import { addTo, groupedZone, isLeftOut, keyOf, printedSet, readSet } from './printed-sets.ts'
import type { SetKey } from './printed-sets.ts'
import { digestOfFile, digestOfFiles, digestOfSets, headOf, isAsItCame } from './zone-digest.ts'
import { etagOf } from '#config/entry.ts'
import type { ConfigEntry } from '#config/entry.ts'
import type { Operation } from '#config/operation.ts'
import type { JsonObject } from '#compiler/yaml/text.ts'
import { printName } from '#dns/rdata-text/name-text.ts'
import { RrType } from '#dns/rrtype.ts'
import { rdataTypeOf } from '#dns/rdata/rdata-types.ts'
import { itemsPerStep } from '#lib/thread/slices.ts'
import { err, ok } from '#lib/result.ts'
import { byCodeUnits } from '#lib/sequence/order.ts'
import type { Result } from '#lib/result.ts'
import { recordTtlDefault } from '#schemas/objects/records.ts'
import type { RecordSet, Transfer } from '#schemas/objects/records.ts'
import type { InboundSoa, Transferred, ZoneChange } from '#zones/inbound/transfer-reader.ts'

/** Limits of one file: less than a file may have, so that a change rewrites little. */
const fileLimits = { sets: 5_000, characters: 800_000 } as const

export interface InboundFiles {
  /** Name of the zone, with its final dot. */
  readonly name: string
  /** The same in wire form, lower case. */
  readonly zone: Uint8Array
  readonly tenant: string
  /** Whether this server signs the zone. */
  readonly isSigned: boolean
  /** Its files that came by transfer. */
  readonly entries: readonly ConfigEntry<'Records'>[]
  /** Whether a file of the tenant has this name, perhaps one that did not come by transfer. */
  readonly isTaken: (name: string) => boolean
}

/** `misfit`: the changes are not for what is here, so the whole zone is needed. */
type FilesFault = { readonly is: 'misfit' | 'refused'; readonly reason: string }

export interface FilesPlan {
  /** None: all is as it should be. */
  readonly operations: readonly Operation[]
  /** Names that had records, as files have them, and have none any more. */
  readonly lost: readonly string[]
  /** How many names had records; 0 where none is lost. */
  readonly names: number
}

/** Yields where it may pause: a zone may have a million records. */
export function* filesOf(
  files: InboundFiles,
  came: Exclude<Transferred, { readonly is: 'current' }>,
): Planning<Result<FilesPlan, FilesFault>> {
  if (came.is === 'changes') return yield* changedFiles(files, came.changes, came.soa)
  const grouped = yield* groupedZone(came.records, files.zone)
  if (!grouped.ok) return err({ is: 'refused', reason: grouped.error })
  const { sets, isSigned } = grouped.value
  if (isSigned && !files.isSigned) return err({ is: 'refused', reason: signedThere })
  const wanted: Wanted = {
    now: (before) => {
      const key = keyOf(before)
      const set = sets.get(key)
      sets.delete(key)
      const printed = set && printedSet(set, files.zone)
      // Nearly all are: what is in memory already stays alone there.
      return printed !== undefined && isSameSet(printed, before) ? before : printed
    },
    coming: () => sets.values(),
  }
  return ok(yield* planFor(files, wanted, came.soa))
}

type Planning<T> = Generator<undefined, T>

interface Wanted {
  /** What becomes of a set of a file; each is asked once. @returns undefined: it is gone */
  readonly now: (before: RecordSet) => RecordSet | undefined
  /** What has no file yet, when all were asked. */
  readonly coming: () => Iterable<InboundSet>
}

const signedThere =
  'the primary server signs it, and gslb.yaml has no `dnssec` for it: validating resolvers would ' +
  'refuse its answers; sign it here, with the keys of both sides shown on both (docs: zones from ' +
  'elsewhere), or have the primary server send it unsigned'

/** Marks the zone as expired, or takes the mark away. */
export function expiryOf({ entries }: InboundFiles, isExpired: boolean): readonly Operation[] {
  const head = headOf(entries)
  const { soa, digest } = head?.object.spec.transfer ?? {}
  if (head === undefined || soa === undefined) return []
  const state = digest === undefined ? { soa } : { soa, digest }
  return [updated(head, { transfer: isExpired ? { ...state, expired: true } : state })]
}

interface KeptFile {
  readonly entry: ConfigEntry<'Records'>
  readonly records: RecordSet[]
}

/** A file stays the home of its sets; new ones fill the files that have room. */
function* planFor(files: InboundFiles, wanted: Wanted, soa: InboundSoa): Planning<FilesPlan> {
  const gone = new Set<string>()
  const kept: KeptFile[] = []
  let count = 0
  for (const entry of files.entries) {
    const records: RecordSet[] = []
    for (const before of entry.object.spec.records) {
      const set = wanted.now(before)
      if (set === undefined) gone.add(before.name)
      else records.push(set)
      if (++count % itemsPerStep === 0) yield
    }
    kept.push({ entry, records })
  }
  const coming: RecordSet[] = []
  for (const set of wanted.coming()) {
    coming.push(printedSet(set, files.zone))
    if (coming.length % itemsPerStep === 0) yield
  }
  for (const { name } of coming) gone.delete(name)
  const lost = gone.size === 0 ? noneLost : yield* lostNames(files, kept, gone)
  const laid = yield* laidOut(files, kept, yield* sorted(coming))
  return { ...lost, operations: yield* operationsFor(files, laid, soa) }
}

const noneLost = { lost: [], names: 0 } as const

/** @param gone names of sets that are gone; loses those that have others */
function* lostNames(
  { entries }: InboundFiles,
  kept: readonly KeptFile[],
  gone: Set<string>,
): Planning<Pick<FilesPlan, 'lost' | 'names'>> {
  for (const { records } of kept) {
    yield
    for (const { name } of records) gone.delete(name)
  }
  const names = new Set<string>()
  for (const { object } of entries) {
    yield
    for (const { name } of object.spec.records) names.add(name)
  }
  return { lost: [...gone], names: names.size }
}

interface LaidFile {
  /** undefined: it is new. */
  readonly entry: ConfigEntry<'Records'> | undefined
  readonly records: readonly RecordSet[]
  readonly isSame: boolean
  readonly isHead: boolean
}

/** @param coming is emptied */
function* laidOut(
  { entries }: InboundFiles,
  kept: readonly KeptFile[],
  coming: RecordSet[],
): Planning<readonly LaidFile[]> {
  const head = headOf(entries)
  const laid: LaidFile[] = []
  for (const { entry, records: own } of kept) {
    yield
    const { records: before, ttl = recordTtlDefault } = entry.object.spec
    const records = filled(own, coming)
    const isSame = ttl === recordTtlDefault && areSame(records, before)
    laid.push({ entry, records, isSame, isHead: entry === head })
  }
  while (coming.length > 0 || laid.length === 0) {
    yield
    const isHead = laid.length === 0
    laid.push({ entry: undefined, records: filled([], coming), isSame: false, isHead })
  }
  return laid
}

/**
 * Each commit of a zone writes its head, and files only over those that were read: the changes of
 * one serial are not laid on another one that a second control node has written meanwhile, nor on
 * what people have.
 */
function* operationsFor(
  files: InboundFiles,
  laid: readonly LaidFile[],
  soa: InboundSoa,
): Planning<readonly Operation[]> {
  const digests: string[] = []
  for (const { entry, records, isSame, isHead } of laid) {
    yield
    if (!isHead && records.length === 0) continue
    digests.push(entry && isSame ? digestOfFile(entry.object.spec) : digestOfSets(records))
  }
  const names = freeNames(files)
  const [heads, others]: [Operation[], Operation[]] = [[], []]
  let isChanged = false
  for (const { entry, records, isSame, isHead } of laid) {
    yield
    const transfer: Transfer = isHead ? { soa, digest: digestOfFiles(digests) } : {}
    const isGone = !isHead && records.length === 0
    const isState = JSON.stringify(transfer) === JSON.stringify(entry?.object.spec.transfer)
    const isKept = isSame && isState && !isGone
    isChanged ||= !isKept
    if (isKept && !isHead) continue
    const operation =
      entry === undefined
        ? created(files, names.next().value, { transfer, records })
        : isGone
          ? deleted(entry)
          : updated(entry, isSame ? { transfer } : { ttl: null, transfer, records })
    ;(isHead ? heads : others).push(operation)
  }
  return isChanged ? [...heads, ...others] : []
}

/** @param coming loses what has found room */
function filled(records: RecordSet[], coming: RecordSet[]): RecordSet[] {
  if (coming.length === 0) return records
  const before = records.length
  let characters = records.reduce((sum, set) => sum + sizeOf(set), 0)
  let taken = 0
  while (taken < coming.length && records.length < fileLimits.sets) {
    const size = sizeOf(coming[taken]!)
    // A set alone has room in a file, whatever its size.
    if (records.length > 0 && characters + size > fileLimits.characters) break
    characters += size
    records.push(coming[taken++]!)
  }
  coming.splice(0, taken)
  const isInOrder = before === 0 || records.length === before
  return isInOrder ? records : sortedKeys(records).map(({ set }) => set)
}

/** Sorts parts, and then merges them, so that it may pause. */
function* sorted(records: readonly RecordSet[]): Planning<RecordSet[]> {
  let runs: KeyedSet[][] = []
  for (let at = 0; at < records.length; at += sortedAtOnce) {
    runs.push(sortedKeys(records.slice(at, at + sortedAtOnce)))
    yield
  }
  while (runs.length > 1) {
    const merged: KeyedSet[][] = []
    for (let i = 0; i < runs.length; i += 2) {
      merged.push(yield* mergedRuns(runs[i]!, runs[i + 1] ?? []))
    }
    runs = merged
  }
  return (runs[0] ?? []).map(({ set }) => set)
}

const sortedAtOnce = 2_048

interface KeyedSet {
  readonly key: string
  readonly set: RecordSet
}

/** Sets that are neighbours in the zone share a file where possible: changes are easier to read. */
const sortedKeys = (records: readonly RecordSet[]): KeyedSet[] =>
  records.map((set) => ({ key: set.name.split('.').reverse().join('.'), set })).sort(byPlace)

const byPlace = (a: KeyedSet, b: KeyedSet): number =>
  byCodeUnits(a.key, b.key) || byCodeUnits(a.set.type, b.set.type)

function* mergedRuns(a: readonly KeyedSet[], b: readonly KeyedSet[]): Planning<KeyedSet[]> {
  const merged: KeyedSet[] = []
  let [i, j] = [0, 0]
  while (i < a.length || j < b.length) {
    const isOfA = j === b.length || (i < a.length && byPlace(a[i]!, b[j]!) <= 0)
    merged.push(isOfA ? a[i++]! : b[j++]!)
    if (merged.length % sortedAtOnce === 0) yield
  }
  return merged
}

const sizeOf = ({ name, type, values }: RecordSet): number =>
  values.reduce((sum, value) => sum + value.length + 4, name.length + type.length + 48)

function areSame(records: readonly RecordSet[], before: readonly RecordSet[]): boolean {
  return records.length === before.length && records.every((set, i) => isSameSet(set, before[i]!))
}

function isSameSet(set: RecordSet, was: RecordSet): boolean {
  if (set === was) return true
  const { name, type, ttl, values } = set
  if (name !== was.name || type !== was.type || ttl !== was.ttl) return false
  return values.length === was.values.length && values.every((one, i) => one === was.values[i])
}

interface FilePatch {
  /** null: the default. */
  readonly ttl?: null
  readonly transfer: Transfer
  readonly records?: readonly RecordSet[]
}

const updated = (
  { uid, object }: ConfigEntry<'Records'>,
  { records, ...patch }: FilePatch,
): Operation => ({
  ...{ verb: 'update', kind: 'Records', target: { uid }, ifMatch: etagOf(object) },
  patch: records === undefined ? patch : { ...patch, records: records.map(plainSet) },
})

const deleted = ({ uid, object }: ConfigEntry<'Records'>): Operation => ({
  ...{ verb: 'delete', kind: 'Records', target: { uid }, ifMatch: etagOf(object) },
})

const created = (
  { name: zone, tenant }: InboundFiles,
  name: string,
  fields: Required<Pick<FilePatch, 'transfer' | 'records'>>,
): Operation => ({
  ...{ verb: 'create', kind: 'Records', tenant, name },
  spec: { zone, ...fields } as unknown as JsonObject,
})

function* freeNames({ name, entries, isTaken }: InboundFiles): Generator<string, never> {
  const taken = new Set(entries.map((entry) => entry.name))
  const stem = `${name === '.' ? 'root' : name.slice(0, -1)}-transferred`
  for (let n = 1; ; n++) {
    const one = n === 1 ? stem : `${stem}-${n}`
    if (!taken.has(one) && !isTaken(one)) yield one
  }
}

/** Changes only the sets that the changes name, which are read from their files. */
function* changedFiles(
  files: InboundFiles,
  changes: readonly ZoneChange[],
  soa: InboundSoa,
): Planning<Result<FilesPlan, FilesFault>> {
  const { zone, entries } = files
  if (!(yield* isAsItCame(entries))) return err(misfit('people have written its files'))
  let count = 0
  const near = new Set<string>()
  for (const { record } of changes) {
    if (++count % itemsPerStep === 0) yield
    for (const name of namesFrom(record.owner, zone)) near.add(name)
  }
  const before = new Map<SetKey, RecordSet>()
  for (const entry of entries) {
    yield
    for (const set of entry.object.spec.records) {
      if (near.has(set.name)) before.set(keyOf(set), set)
    }
  }
  const now = new Map<SetKey, InboundSet>()
  for (const { isAdded, record } of changes) {
    if (++count % itemsPerStep === 0) yield
    const isKey = record.type === RrType.DNSKEY && record.owner.length === zone.length
    if (isKey && !files.isSigned) return err(misfit('it is signed'))
    if (isLeftOut(record, zone)) continue
    if (movesBounds(record, before, zone)) return err(misfit('a delegation changes'))
    const name = printName(record.owner, zone)
    const key = keyOf({ name, type: rdataTypeOf(record.type).name })
    if (!now.has(key)) {
      const known = before.get(key)
      const set = known === undefined ? undefined : readSet(known, record.owner, zone)
      if (known !== undefined && set === undefined) return err(misfit(`${key} cannot be read`))
      if (set !== undefined) now.set(key, set)
    }
    const set = now.get(key)
    if (isAdded) {
      // All records of a set have one TTL: a change of it comes as removing and adding each.
      if (set?.rdata.length === 0) set.ttl = record.ttl
      const fault = addTo(now, record, zone)
      // Later changes may remove as many: the whole zone says how it is in the end.
      if (fault !== undefined) return err(misfit(fault))
      continue
    }
    if (set?.remove(record.rdata) !== true) return err(misfit(`${key} is not as it was there`))
  }
  return ok(yield* planFor(files, changedSets(now, zone), soa))
}

const misfit = (reason: string): FilesFault => ({ is: 'misfit', reason })

/** All other sets stay as they are. */
function changedSets(sets: ReadonlyMap<SetKey, InboundSet>, zone: Uint8Array): Wanted {
  const names = new Set(Array.from(sets.values(), ({ name }) => name))
  const placed = new Set<SetKey>()
  return {
    now: (before) => {
      const key = names.has(before.name) ? keyOf(before) : undefined
      const set = key === undefined ? undefined : sets.get(key)
      if (key === undefined || set === undefined) return before
      if (placed.has(key) || set.rdata.length === 0) return undefined
      placed.add(key)
      return printedSet(set, zone)
    },
    coming: () =>
      [...sets].flatMap(([key, set]) => (placed.has(key) || set.rdata.length === 0 ? [] : [set])),
  }
}

/** The set as it is written: without the id of its entry. */
function plainSet({ name, type, ttl, values }: RecordSet): RecordSet {
  return ttl === undefined ? { name, type, values } : { name, type, ttl, values }
}

/** Whether a record begins or ends a part of the zone that others answer, or is in one. */
function movesBounds(
  { owner, type }: ZoneChange['record'],
  before: ReadonlyMap<SetKey, RecordSet>,
  zone: Uint8Array,
): boolean {
  if (type === RrType.NS || type === RrType.DNAME) return true
  const names = namesFrom(owner, zone)
  const top = names.pop()!
  if (names.some((name) => before.has(`${name} NS`) || before.has(`${name} DNAME`))) return true
  return names.length > 0 && before.has(`${top} DNAME`)
}

/** A name and those above it up to the zone, as files have them. */
function namesFrom(owner: Uint8Array, zone: Uint8Array): string[] {
  const names: string[] = []
  let at = 0
  for (; owner.length - at > zone.length; at += owner[at]! + 1) {
    names.push(printName(owner.subarray(at), zone))
  }
  return [...names, printName(zone, zone)]
}
