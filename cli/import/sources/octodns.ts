// Takes over a zone of octoDNS: the YAML file of one zone, as its YamlProvider writes it.
import { basename } from 'node:path'
import { formatName, parseName } from '#dns/name.ts'
import { err, ok } from '#lib/result.ts'
import { fieldsOf, isFields, listOf, numberOf, readExport, textOf } from './export-document.ts'
import type { Fields } from './export-document.ts'
import type { ImportSource } from './imported.ts'
import { dynamicName } from './octodns-dynamic.ts'
import type { OctodnsRecord } from './octodns-dynamic.ts'
import { octodnsValue } from './octodns-values.ts'
import { ZoneBuilder } from './zone-builder.ts'

/** What octoDNS takes where a record has no TTL. */
const ttlDefault = 3_600

export const octodnsSource: ImportSource = {
  name: 'octodns',
  says: 'YAML of one zone of octoDNS, its name that of the file (example.com.yaml)',
  read(file, { origin }) {
    const document = readExport(file)
    if (!document.ok) return document
    const { value, placeOf } = document.value
    const ofFile = parseName(basename(file.path).replace(/\.ya?ml$/, ''))
    const zone = origin ?? (ofFile.ok ? ofFile.value : undefined)
    if (zone === undefined || !isFields(value)) {
      const message = isFields(value)
        ? 'the name of the file is no name of a zone: give it with --origin'
        : 'expected a name for each record of the zone, as octoDNS writes them'
      return err([{ ...placeOf([]), message }])
    }
    const builder = new ZoneBuilder()
    const apex = formatName(zone)
    for (const [label, records] of Object.entries(value)) {
      const list = Array.isArray(records) ? records : [records]
      const name = label === '' ? apex : `${label}.${apex === '.' ? '' : apex}`
      const found = list.map((one, i): OctodnsRecord => {
        const place = placeOf(Array.isArray(records) ? [label, i] : [label])
        const fields = fieldsOf(one)
        const ttl = numberOf(fields['ttl']) ?? ttlDefault
        return { name, fields, type: textOf(fields['type']), ttl, place }
      })
      takeOver(found, builder)
    }
    return ok(builder.result(zone, placeOf([])))
  },
}

/** @param records of one name */
function takeOver(records: readonly OctodnsRecord[], builder: ZoneBuilder): void {
  const addresses = records.filter(({ type }) => type === 'A' || type === 'AAAA')
  const isBalanced = addresses.some(({ fields }) => isFields(fields['dynamic']))
  if (isBalanced) dynamicName(addresses, builder)
  for (const record of records) {
    if (!isBalanced || !addresses.includes(record)) plainRecord(record, builder)
  }
}

function plainRecord(
  { name, type, ttl, fields, place }: OctodnsRecord,
  builder: ZoneBuilder,
): void {
  const refuse = (why: string): void => builder.note('not mapped', place, `${name} ${type}: ${why}`)
  if (fields['dynamic'] !== undefined) return refuse('only addresses are balanced')
  if (fields['geo'] !== undefined) refuse('its geo is of before octoDNS 1.0; write it as dynamic')
  if (type === 'ALIAS') return refuse('there is no ALIAS; write a service with the addresses')
  const values = valuesOf(fields)
  if (values.length === 0) return refuse('it has no values')
  for (const one of values) {
    const value = octodnsValue(type, one)
    if (value === undefined) refuse('a type of octoDNS that is not known here')
    else builder.record({ name, type, ttl, value }, place)
  }
}

export function valuesOf(fields: Fields): readonly unknown[] {
  return fields['value'] === undefined ? listOf(fields['values']) : [fields['value']]
}
