// Imports a zone of octoDNS: the YAML file of one zone, as its YamlProvider writes it.
import { basename } from 'node:path'
import { formatName, parseName } from '#dns/name.ts'
import { err, ok } from '#lib/result.ts'
import { readExport, rootKey } from '#import/fields/export-document.ts'
import type { ExportObject } from '#import/fields/export-object.ts'
import type { ImportSource } from './imported.ts'
import { dynamicName } from './octodns-dynamic.ts'
import type { OctodnsRecord } from './octodns-dynamic.ts'
import { octodnsValue } from './octodns-values.ts'
import { ZoneBuilder } from './zone-builder.ts'

/** TTL that octoDNS uses for a record without one. */
const ttlDefault = 3_600

export const octodnsSource: ImportSource = {
  name: 'octodns',
  says: 'YAML of one zone of octoDNS, its name that of the file (example.com.yaml)',
  read(file, { origin }) {
    const document = readExport(file)
    if (!document.ok) return document
    const { root, top } = document.value
    const ofFile = parseName(basename(file.path).replace(/\.ya?ml$/, ''))
    const zone = origin ?? (ofFile.ok ? ofFile.value : undefined)
    const isZone = root.isObject(rootKey)
    if (zone === undefined || !isZone) {
      const message = isZone
        ? 'the name of the file is no name of a zone: give it with --origin'
        : 'expected a name for each record of the zone, as octoDNS writes them'
      return err([{ ...top, message }])
    }
    const builder = new ZoneBuilder()
    const apex = formatName(zone)
    const names = root.object(rootKey)
    for (const label of names.keys()) {
      const name = label === '' ? apex : `${label}.${apex === '.' ? '' : apex}`
      const found = names.objects(label, '*').map((fields): OctodnsRecord => {
        const ttl = fields.number('ttl') ?? ttlDefault
        return { name, fields, type: fields.text('type'), ttl, place: fields.place }
      })
      takeOver(found, builder)
    }
    return ok(builder.result(zone, top, root.notes()))
  },
}

/** @param records of one name */
function takeOver(all: readonly OctodnsRecord[], builder: ZoneBuilder): void {
  const records = all.filter((record) => isOurs(record, builder))
  for (const types of [['A', 'AAAA'], ['CNAME']]) {
    const some = records.filter(({ type }) => types.includes(type))
    const isDynamic = some.some(({ fields }) => fields.isObject('dynamic'))
    if (isDynamic) dynamicName(some, builder)
    else for (const record of some) plainRecord(record, builder)
  }
  for (const record of records.filter(({ type }) => !/^(A|AAAA|CNAME)$/.test(type))) {
    plainRecord(record, builder)
  }
}

/** octoDNS never publishes records marked to be left alone. */
function isOurs({ name, type, fields, place }: OctodnsRecord, builder: ZoneBuilder): boolean {
  const own = fields.object('octodns')
  own.aside('says what octoDNS lets pass', 'lenient')
  if (own.flag('ignored') !== true) return true
  builder.note('left out', place, `${name} ${type}: octodns.ignored, so octoDNS leaves it alone`)
  fields.markReported()
  return false
}

function plainRecord(
  { name, type, ttl, fields, place }: OctodnsRecord,
  builder: ZoneBuilder,
): void {
  const refuse = (why: string): void => {
    builder.note('not mapped', place, `${name} ${type}: ${why}`)
    fields.markReported()
  }
  const values = valuesOf(fields)
  if (values.length === 0) return refuse('it has no values')
  fields.object('octodns').aside('only dynamic records are probed', 'healthcheck')
  for (const one of values) {
    const value = octodnsValue(type, one)
    if (value === undefined) return refuse('a type of octoDNS that is not known here')
    builder.record({ name, type, ttl, value }, place)
  }
}

function valuesOf(fields: ExportObject): readonly (string | ExportObject)[] {
  return fields.items(fields.has('value') ? 'value' : 'values')
}
