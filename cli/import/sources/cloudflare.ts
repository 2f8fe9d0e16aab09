// Takes over a zone of Cloudflare: the JSON of /zones/ID/dns_records, or an object of it with the
// load balancers, pools and monitors beside it.
import type { ZonePlace } from '#dns/zone-file/zone-record.ts'
import { err, ok } from '#lib/result.ts'
import { loadBalancer } from './cloudflare-balancer.ts'
import { fieldsOf, listOf, numberOf, readExport, textOf } from './export-document.ts'
import type { Fields, Path } from './export-document.ts'
import type { ImportSource } from './imported.ts'
import { quotedStrings } from './octodns-values.ts'
import { ZoneBuilder, noHostnames } from './zone-builder.ts'

/** What TTL 1, "automatic", comes to. */
const automaticTtl = 300

export const cloudflareSource: ImportSource = {
  name: 'cloudflare',
  says: 'JSON of the API: dns_records, and beside them load_balancers, pools, monitors',
  read(file, { origin }) {
    const document = readExport(file)
    if (!document.ok) return document
    const { value, placeOf } = document.value
    const records = sectionOf(value, 'dns_records') ?? listAt(value, [])
    if (origin === undefined || records === undefined) {
      const message =
        records === undefined
          ? 'expected the result of /zones/ID/dns_records, alone or as dns_records'
          : 'the export does not say which zone it is: give its name with --origin'
      return err([{ ...placeOf([]), message }])
    }
    const builder = new ZoneBuilder()
    const balancers = sectionOf(value, 'load_balancers')
    const names = new Set(listed(balancers).map(({ fields }) => textOf(fields['name'])))
    for (const { fields, path } of listed(records)) {
      const isBehind = names.has(textOf(fields['name'])) && /^(A|AAAA|CNAME)$/.test(typeOf(fields))
      if (!isBehind) dnsRecord(fields, placeOf(path), builder)
    }
    const pools = listed(sectionOf(value, 'pools')).map(({ fields }) => fields)
    const monitors = listed(sectionOf(value, 'monitors')).map(({ fields }) => fields)
    for (const { fields, path } of listed(balancers)) {
      loadBalancer({ balancer: fields, pools, monitors, place: placeOf(path) }, builder)
    }
    return ok(builder.result(origin, placeOf([])))
  },
}

interface Section {
  readonly list: readonly unknown[]
  readonly path: Path
}

/** A list, or the answer of the API around it. */
function listAt(value: unknown, path: Path): Section | undefined {
  if (Array.isArray(value)) return { list: value, path }
  const { result } = fieldsOf(value)
  return Array.isArray(result) ? { list: result, path: [...path, 'result'] } : undefined
}

const sectionOf = (value: unknown, key: string): Section | undefined =>
  listAt(fieldsOf(value)[key], [key])

function listed(section: Section | undefined): { fields: Fields; path: Path }[] {
  return listOf(section?.list)
    .map((one, i) => ({ fields: fieldsOf(one), path: [...section!.path, i] }))
    .filter(({ fields }) => Object.keys(fields).length > 0)
}

const typeOf = (fields: Fields): string => textOf(fields['type'])
const absolute = (name: string): string => (name.endsWith('.') ? name : `${name}.`)

function dnsRecord(fields: Fields, place: ZonePlace, builder: ZoneBuilder): void {
  const type = typeOf(fields)
  const name = absolute(textOf(fields['name']))
  const ttl = numberOf(fields['ttl']) ?? 1
  const value = valueOf(type, fields)
  if (fields['proxied'] === true) {
    const text = `${name} ${type}: its clients saw addresses of Cloudflare, and will see ${value}`
    builder.note('changed', place, text)
  }
  if (type === 'CNAME' && fieldsOf(fields['settings'])['flatten_cname'] === true) {
    const text = `${name} CNAME: it was answered with the addresses of its target; ${noHostnames}`
    return builder.note('not mapped', place, text)
  }
  builder.record({ name, type, ttl: ttl === 1 ? automaticTtl : ttl, value }, place)
}

/** Cloudflare leaves out final dots, and keeps parts of a value in fields of their own. */
function valueOf(type: string, fields: Fields): string {
  const content = textOf(fields['content'])
  const data = fieldsOf(fields['data'])
  const from = (...names: readonly string[]): string[] => names.map((name) => textOf(data[name]))
  switch (type) {
    case 'CNAME':
    case 'NS':
    case 'PTR':
      return absolute(content)
    case 'MX':
      return `${textOf(fields['priority'])} ${absolute(content)}`
    case 'TXT':
      return content.startsWith('"') ? content : quotedStrings(content)
    case 'SRV':
      if (data['target'] === undefined) break
      return `${from('priority', 'weight', 'port').join(' ')} ${absolute(textOf(data['target']))}`
    case 'CAA':
      if (data['tag'] === undefined) break
      return `${from('flags', 'tag').join(' ')} ${quotedStrings(textOf(data['value']))}`
    case 'URI':
      if (data['target'] === undefined) break
      return [
        textOf(fields['priority']),
        ...from('weight'),
        quotedStrings(textOf(data['target'])),
      ].join(' ')
    case 'HTTPS':
    case 'SVCB':
      if (data['target'] === undefined) break
      return [...from('priority'), absolute(textOf(data['target'])), ...from('value')]
        .join(' ')
        .trim()
  }
  return content
}
