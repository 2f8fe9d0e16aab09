// Defines the JSON of a record set, as the API shows and accepts it.
import { byName } from '#lib/sequence/order.ts'
import { Type } from '#lib/schema/type.ts'
import type { Static } from '#lib/schema/type.ts'
import { fullName, isDoubled, nameInZone, rrsetOf, typeName } from '#compiler/values/record-sets.ts'
import { checkName } from '#compiler/values/names.ts'
import type { JsonObject } from '#compiler/yaml/text.ts'
import { partsIn } from '#config/entry.ts'
import type { ConfigEntry, ConfigPart } from '#config/entry.ts'
import { RecordSet, RecordsSpec, recordTtlDefault } from '#schemas/objects/records.ts'
import { closed } from '#http/shapes.ts'
import { invalid } from '#http/reply.ts'
import type { Reply } from '#http/reply.ts'
import { defaulted, optional, plain } from './fields.ts'
import { mergePatchOf } from './merge-patch.ts'

const { name, type, ttl, values } = RecordSet.properties

export const Record = Type.Object(
  {
    id: Type.String({ description: 'Stays with the name and type, whatever file has them' }),
    zone: Type.String(),
    name: Type.String({ description: 'Whole, with its final dot' }),
    type: Type.String(),
    ttl: Type.Integer(),
    values: Type.Array(Type.String()),
  },
  { title: 'Record' },
)

const telling = (schema: typeof values) => plain(schema, { examples: [['"verification=abc"']] })
const own = {
  zone: plain(RecordsSpec.properties.zone, { examples: ['example.com.'] }),
  name: plain(name, { examples: ['www'] }),
  type: plain(type, { examples: ['TXT'] }),
}
export const NewRecord = closed({
  ...own,
  ttl: defaulted(ttl, { default: recordTtlDefault, description: 'TTL in seconds.' }),
  values: telling(values),
})
export type NewRecord = Static<typeof NewRecord>

const kept = { description: 'Cannot change: a client may send back what it was given.' }
const fixed = {
  zone: optional(RecordsSpec.properties.zone, kept),
  name: optional(name, kept),
  type: optional(type, kept),
}
export const RecordBody = closed({
  ...fixed,
  ttl: optional(ttl, { description: 'TTL in seconds. Without it: that of the file.' }),
  values: telling(values),
})
export type RecordBody = Static<typeof RecordBody>

export const RecordPatch = mergePatchOf({ ...fixed, ttl: plain(ttl), values: telling(values) }, [
  'zone',
  'name',
  'type',
  'values',
])
export type RecordPatch = Static<typeof RecordPatch>

type Found = ConfigPart<'RecordSet'>

export function showRecord({ owner, part }: Found) {
  const { spec } = owner.object as ConfigEntry<'Records'>['object']
  const zone = checkName(spec.zone, false).key ?? spec.zone
  return {
    id: part.uid,
    zone,
    name: fullName(zone, part.name) ?? part.name,
    type: typeName(part.type),
    ttl: part.ttl ?? spec.ttl,
    values: part.values,
  }
}

/** A row of the list, which is ordered and paged by name, then by id. */
export interface RecordRow extends Found {
  readonly name: string
  readonly uid: string
  readonly zone: string
  readonly code: number
}

const rowsOf = new WeakMap<readonly ConfigEntry<'Records'>[], readonly RecordRow[]>()

/** @param files the same array as long as none of them changes */
export function recordRows(files: readonly ConfigEntry<'Records'>[]): readonly RecordRow[] {
  let rows = rowsOf.get(files)
  if (rows === undefined) {
    rows = files.flatMap(rowsIn).sort(byName)
    rowsOf.set(files, rows)
  }
  return rows
}

function rowsIn(owner: ConfigEntry<'Records'>): RecordRow[] {
  const { spec } = owner.object
  const zone = checkName(spec.zone, false).key ?? spec.zone
  return partsIn('RecordSet', owner).map((part, position) => {
    const set = rrsetOf(zone, part.name, part.type)
    return { owner, part, position, uid: part.uid, zone, name: set.name, code: set.code }
  })
}

/** The content of the file of a new record set. */
export function specOfNewRecord({
  zone,
  name: text,
  type: kind,
  ttl: seconds,
  values: list,
}: NewRecord) {
  const key = checkName(zone, false).key ?? zone
  const full = fullName(key, text)
  const set: Record<string, JsonObject[string]> = {
    name: full === undefined ? text : nameInZone(key, full),
    type: typeName(kind),
  }
  if (seconds !== undefined && seconds !== recordTtlDefault) set['ttl'] = seconds
  return { zone: key, records: [{ ...set, values: list }] }
}

/** The whole name; undefined when it is invalid, which the compiler reports. */
export function fullNameOfNew({ zone, name: text }: NewRecord): readonly string[] {
  const full = fullName(checkName(zone, false).key ?? zone, text)
  return full === undefined ? [] : [full]
}

/** Name of the object, and so of its file, such as `www.example.com MX`. */
export function nameOfNewRecord({ zone, name: text, type: kind }: NewRecord): string {
  const full = fullName(checkName(zone, false).key ?? zone, text) ?? text
  return `${full.replace(/\.$/, '').slice(0, 200)} ${typeName(kind).replaceAll(/[^A-Z0-9]/g, '')}`
}

/**
 * A name that would end in its zone twice: an error here, since nobody reads warnings of the API.
 */
export function doubledName({ zone, name: text }: NewRecord): Reply | undefined {
  const key = checkName(zone, false).key
  if (key === undefined || !isDoubled(key, text)) return undefined
  const full = fullName(key, text) ?? ''
  return invalid('name', `without a final dot it means ${full}; write "${text}."`)
}

/** Name and type cannot change: another name or type is another record set. */
export function changedIdentity(
  found: Found,
  { zone, name: text, type: kind }: Pick<RecordPatch, 'zone' | 'name' | 'type'>,
): Reply | undefined {
  const shown = showRecord(found)
  const set = rrsetOf(shown.zone, text ?? shown.name, kind ?? shown.type)
  const now = rrsetOf(shown.zone, shown.name, shown.type)
  const isOther = {
    zone: zone !== undefined && checkName(zone, false).key !== shown.zone,
    name: set.name !== now.name,
    type: set.code !== now.code,
  }
  for (const field of ['zone', 'name', 'type'] as const) {
    if (!isOther[field]) continue
    const help = 'it cannot change; create another record and delete this one'
    return invalid(field, `this is ${shown[field]}, and ${help}`)
  }
  return undefined
}
