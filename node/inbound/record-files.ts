// Works out the operations that make the files of a zone's records be what a transfer brought.
import type { InboundSet } from './inbound-set.ts'
import { addTo, groupedZone, isLeftOut, keyOf, printedSet, readSet } from './printed-sets.ts'
import type { SetKey } from './printed-sets.ts'
import { etagOf } from '#config/entry.ts'
import type { ConfigEntry } from '#config/entry.ts'
import type { Operation, UpdateObject } from '#config/operation.ts'
import type { JsonObject } from '#compiler/yaml/text.ts'
import { enclosingNames } from '#dns/enclosing-names.ts'
import { formatName, parseName } from '#dns/name.ts'
import { printName } from '#dns/rdata-text/name-text.ts'
import { RrType } from '#dns/rrtype.ts'
import { assert } from '#lib/assert.ts'
import { err, ok } from '#lib/result.ts'
import { byCodeUnits } from '#lib/sequence/order.ts'
import type { Result } from '#lib/result.ts'
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
export type FilesFault = { readonly is: 'misfit' | 'refused'; readonly reason: string }

export interface FilesPlan {
  /** None: all is as it should be. */
  readonly operations: readonly Operation[]
  /** Names that had records, as files have them, and have none any more. */
  readonly lost: readonly string[]
  /** How many names had records. */
  readonly names: number
}

export function filesOf(
  files: InboundFiles,
  came: Exclude<Transferred, { readonly is: 'current' }>,
): Result<FilesPlan, FilesFault> {
  if (came.is === 'changes') return changedFiles(files, came.changes, came.soa)
  const grouped = groupedZone(came.records, files.zone)
  if (!grouped.ok) return err({ is: 'refused', reason: grouped.error })
  const { sets, isSigned } = grouped.value
  if (isSigned && !files.isSigned) return err({ is: 'refused', reason: signedThere })
  return ok(planFor(files, printedBy(sets, files), came.soa))
}

function planFor(
  files: InboundFiles,
  wanted: ReadonlyMap<SetKey, RecordSet>,
  soa: InboundSoa,
): FilesPlan {
  const before = new Set(
    files.entries.flatMap(({ object }) => object.spec.records.map(({ name }) => name)),
  )
  const after = new Set(Array.from(wanted.values(), ({ name }) => name))
  const lost = [...before].filter((name) => !after.has(name))
  return { operations: operationsFor(files, wanted, soa), lost, names: before.size }
}

const signedThere =
  'the primary server signs it, and gslb.yaml has no `dnssec` for it: validating resolvers would ' +
  'refuse its answers; sign it here, with the keys of both sides shown on both (docs: zones from ' +
  'elsewhere), or have the primary server send it unsigned'

/** Marks the zone as expired, or takes the mark away. */
export function expiryOf({ entries }: InboundFiles, isExpired: boolean): readonly Operation[] {
  const head = headOf(entries)
  const soa = head?.object.spec.transfer?.soa
  if (head === undefined || soa === undefined) return []
  const transfer = isExpired ? { soa, expired: true } : { soa }
  return pinned(head, [updated(head, { transfer })])
}

/**
 * Each commit of a zone writes its head, and only over the head that was read: the changes of one
 * serial are not laid on another one that a second control node has written meanwhile.
 */
function pinned(head: ConfigEntry<'Records'>, operations: readonly Operation[]): Operation[] {
  const { uid, object } = head
  const isOfHead = (one: Operation): one is UpdateObject =>
    one.verb === 'update' && 'uid' in one.target && one.target.uid === uid
  const own = operations.find(isOfHead)
  const written = own ?? updated(head, { transfer: object.spec.transfer ?? {} })
  const others = operations.filter((one) => one !== own)
  return [{ ...written, ifMatch: etagOf(object) }, ...others]
}

/** The file that says how the zone stands. */
export function headOf(
  entries: readonly ConfigEntry<'Records'>[],
): ConfigEntry<'Records'> | undefined {
  return entries.find(({ object }) => object.spec.transfer?.soa !== undefined) ?? entries[0]
}

function printedBy(
  sets: ReadonlyMap<SetKey, InboundSet>,
  { zone }: InboundFiles,
): Map<SetKey, RecordSet> {
  const printed = sorted(Array.from(sets.values(), (set) => printedSet(set, zone)))
  return new Map(printed.map((set) => [`${set.name} ${set.type}`, set]))
}

/** A file stays the home of its sets; new ones fill the files that have room. */
function operationsFor(
  files: InboundFiles,
  wanted: ReadonlyMap<SetKey, RecordSet>,
  soa: InboundSoa,
): readonly Operation[] {
  const placed = new Set<SetKey>()
  const kept = files.entries.map((entry) => {
    const records: RecordSet[] = []
    for (const { name, type } of entry.object.spec.records) {
      const key = `${name} ${type}`
      const set = placed.has(key) ? undefined : wanted.get(key)
      if (set === undefined) continue
      placed.add(key)
      records.push(set)
    }
    return { entry, records }
  })
  const coming = [...wanted].flatMap(([key, set]) => (placed.has(key) ? [] : [set]))
  const lists = kept.map(({ records }) => filled(records, coming))
  const made: RecordSet[][] = []
  while (coming.length > 0) made.push(filled([], coming))
  assert(placed.size <= wanted.size, 'a set has one home')
  const head = headOf(files.entries)
  if (head === undefined && made.length === 0) made.push([])
  const changed = kept.flatMap(({ entry }, i): Operation[] => {
    const records = lists[i]!
    const transfer: Transfer = entry === head ? { soa } : {}
    if (entry !== head && records.length === 0) {
      return [{ verb: 'delete', kind: 'Records', target: { uid: entry.uid } }]
    }
    const isSame =
      areSame(records, entry.object.spec.records) &&
      JSON.stringify(transfer) === JSON.stringify(entry.object.spec.transfer)
    return isSame ? [] : [updated(entry, { records: records.map(plainSet), transfer })]
  })
  const names = freeNames(files)
  const created = made.map((records, i): Operation => {
    const transfer: Transfer = head === undefined && i === 0 ? { soa } : {}
    const spec = {
      zone: files.name,
      transfer,
      records: records.map(plainSet),
    } as unknown as JsonObject
    const name: string = names.next().value
    return { verb: 'create', kind: 'Records', tenant: files.tenant, name, spec }
  })
  const operations = [...changed, ...created]
  return head === undefined || operations.length === 0 ? operations : pinned(head, operations)
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
  return records.length === before ? records : sorted(records)
}

/** Neighbours of a set are mostly its neighbours in the zone: a change is easier to read. */
function sorted(records: readonly RecordSet[]): RecordSet[] {
  const reversed = ({ name }: RecordSet): string => name.split('.').reverse().join('.')
  return records
    .map((set): [string, RecordSet] => [reversed(set), set])
    .sort(([a, one], [b, other]) => byCodeUnits(a, b) || byCodeUnits(one.type, other.type))
    .map(([, set]) => set)
}

const sizeOf = ({ name, type, values }: RecordSet): number =>
  values.reduce((sum, value) => sum + value.length + 4, name.length + type.length + 48)

function areSame(records: readonly RecordSet[], before: readonly RecordSet[]): boolean {
  if (records.length !== before.length) return false
  return records.every((set, i) => {
    const was = before[i]!
    if (set === was) return true
    const { name, type, ttl, values } = set
    if (name !== was.name || type !== was.type || ttl !== was.ttl) return false
    return values.length === was.values.length && values.every((v, j) => v === was.values[j])
  })
}

const updated = (
  { uid }: ConfigEntry,
  patch: { readonly records?: readonly RecordSet[]; readonly transfer: Transfer },
): UpdateObject => ({
  ...{ verb: 'update', kind: 'Records', target: { uid } },
  patch,
})

function* freeNames({ name, entries, isTaken }: InboundFiles): Generator<string, never> {
  const taken = new Set(entries.map((entry) => entry.name))
  const stem = `${name === '.' ? 'root' : name.slice(0, -1)}-transferred`
  for (let n = 1; ; n++) {
    const one = n === 1 ? stem : `${stem}-${n}`
    if (!taken.has(one) && !isTaken(one)) yield one
  }
}

interface PlacedSet {
  readonly entry: ConfigEntry<'Records'>
  readonly set: RecordSet
}

/** Changes only the sets that the changes name, which are read from their files. */
function changedFiles(
  files: InboundFiles,
  changes: readonly ZoneChange[],
  soa: InboundSoa,
): Result<FilesPlan, FilesFault> {
  const { zone, entries } = files
  const before = new Map<SetKey, PlacedSet>()
  for (const entry of entries) {
    for (const set of entry.object.spec.records)
      before.set(`${set.name} ${set.type}`, { entry, set })
  }
  const now = new Map<SetKey, InboundSet>()
  for (const { isAdded, record } of changes) {
    const isKey = record.type === RrType.DNSKEY && record.owner.length === zone.length
    if (isKey && !files.isSigned) return err(misfit('it is signed'))
    if (isLeftOut(record, zone)) continue
    if (movesBounds(record, before, zone)) return err(misfit('a delegation changes'))
    const key = keyOf(record.owner, record.type, zone)
    if (!now.has(key)) {
      const known = before.get(key)
      const set = known === undefined ? undefined : readSet(known.set, record.owner, zone)
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
  return ok(planFor(files, wantedAfter(before, now, files), soa))
}

const misfit = (reason: string): FilesFault => ({ is: 'misfit', reason })

function wantedAfter(
  before: ReadonlyMap<SetKey, PlacedSet>,
  now: ReadonlyMap<SetKey, InboundSet>,
  { zone }: InboundFiles,
): Map<SetKey, RecordSet> {
  const wanted = new Map<SetKey, RecordSet>()
  for (const [key, { set }] of before) if (!now.has(key)) wanted.set(key, set)
  for (const [key, set] of now) {
    if (set.rdata.length > 0) wanted.set(key, printedSet(set, zone))
  }
  return wanted
}

/** As it is written: without the id that entries have. */
function plainSet({ name, type, ttl, values }: RecordSet): RecordSet {
  return ttl === undefined ? { name, type, values } : { name, type, ttl, values }
}

/** Whether a record begins or ends a part of the zone that others answer, or is in one. */
function movesBounds(
  { owner, type }: ZoneChange['record'],
  before: ReadonlyMap<SetKey, PlacedSet>,
  zone: Uint8Array,
): boolean {
  if (type === RrType.NS || type === RrType.DNAME) return true
  const top = formatName(zone)
  const name = formatName(owner)
  for (const above of [name, ...enclosingNames(name)]) {
    if (above === top) return before.has('@ DNAME') && name !== top
    const parsed = parseName(above)
    if (!parsed.ok) return true
    const shown = printName(parsed.value, zone)
    if (before.has(`${shown} NS`) || before.has(`${shown} DNAME`)) return true
  }
  return false
}
