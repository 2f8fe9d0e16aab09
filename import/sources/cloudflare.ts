// Imports a zone of Cloudflare: the JSON of /zones/ID/dns_records, or an object with that and the
// load balancers, pools and monitors.
import { formatName } from '#dns/name.ts'
import { err, ok } from '#lib/result.ts'
import { loadBalancer } from './cloudflare-balancer.ts'
import { readExport, rootKey } from '#import/fields/export-document.ts'
import type { ExportObject } from '#import/fields/export-object.ts'
import type { ImportSource } from './imported.ts'
import { quotedStrings } from './octodns-values.ts'
import { rootOrigin, ZoneBuilder } from './zone-builder.ts'

/** Seconds of TTL 1, "automatic". */
const automaticTtl = 300

export const cloudflareSource: ImportSource = {
  name: 'cloudflare',
  says: 'JSON of the API: dns_records, and beside them load_balancers, pools, monitors',
  read(file, { origin }) {
    const document = readExport(file)
    if (!document.ok) return document
    const { root, top } = document.value
    const whole = root.object(rootKey)
    const builder = new ZoneBuilder(rootOrigin)
    const records = section(whole, 'dns_records', builder) ?? section(root, rootKey, builder)
    if (origin === undefined || records === undefined) {
      const message =
        records === undefined
          ? 'expected the result of /zones/ID/dns_records, alone or as dns_records'
          : 'the export does not say which zone it is: give its name with --origin'
      return err([{ ...top, message }])
    }
    const flattened = flattenedNames(records, formatName(origin).toLowerCase())
    const [balancers, pools, monitors] = ['load_balancers', 'pools', 'monitors'].map(
      (key) => section(whole, key, builder) ?? [],
    ) as [readonly ExportObject[], readonly ExportObject[], readonly ExportObject[]]
    const active = balancers.filter((one) => isActive(one, builder))
    const names = new Set(active.map((one) => one.text('name').toLowerCase()))
    for (const record of records) {
      const name = record.text('name')
      const type = record.text('type')
      if (names.has(name.toLowerCase()) && /^(A|AAAA|CNAME)$/.test(type)) {
        const text = `${name} ${type}: a load balancer answers for it`
        builder.note('left out', record.place, text)
        record.markReported()
      } else dnsRecord(record, flattened, builder)
    }
    const used = new Set(
      active.flatMap((balancer) => loadBalancer({ balancer, pools, monitors }, builder)),
    )
    for (const one of [...pools, ...monitors].filter((each) => !used.has(each))) {
      builder.note('left out', one.place, `${one.path}: no load balancer that maps uses it`)
      one.markReported()
    }
    return ok(builder.result(origin, top, root.notes()))
  },
}

/** A list, or the API response around one. */
function section(
  of: ExportObject,
  key: string,
  builder: ZoneBuilder,
): readonly ExportObject[] | undefined {
  if (of.isList(key)) return of.objects(key)
  const answer = of.object(key)
  if (!answer.isList('result')) return undefined
  const pages = answer.object('result_info')
  pages.aside('says how the list was asked for', 'page', 'per_page', 'count', 'total_count')
  pages.asUsual('total_pages', 0, 1)
  const pageCount = pages.number('total_pages') ?? 1
  if (pageCount > 1) {
    const text = `one page of ${pageCount}: what the others have is missing; ask with per_page=5000`
    builder.note('not mapped', pages.place, text)
  }
  answer.asUsual('success', true)
  return answer.objects('result')
}

/** A disabled balancer leaves the name to its records. */
function isActive(balancer: ExportObject, builder: ZoneBuilder): boolean {
  if (balancer.flag('enabled') !== false) return true
  const text = `the load balancer ${balancer.text('name')}: it is disabled, and its records answer`
  builder.note('left out', balancer.place, text)
  balancer.markReported()
  return false
}

const absolute = (name: string): string => (name.endsWith('.') ? name : `${name}.`)

function dnsRecord(
  record: ExportObject,
  flattened: ReadonlySet<string>,
  builder: ZoneBuilder,
): void {
  const { place } = record
  const type = record.text('type')
  const name = absolute(record.text('name'))
  const ttl = record.number('ttl') ?? 1
  record.aside('says how the record is kept, not what it answers', ...bookkeeping)
  const settings = record.object('settings')
  for (const key of ['ipv4_only', 'ipv6_only', 'flatten_cname']) settings.asUsual(key, false)
  const value = valueOf(type, record)
  const isFlattened = flattened.has(name.toLowerCase())
  if (record.flag('proxied') === true) {
    const text = `${name} ${type}: its clients saw addresses of Cloudflare, and will see ${value}`
    builder.note('changed', place, text)
  }
  const isFlat = type === 'CNAME' && (settings.flag('flatten_cname') === true || isFlattened)
  builder.record(
    { name, type: isFlat ? 'ALIAS' : type, ttl: ttl === 1 ? automaticTtl : ttl, value },
    place,
  )
}

/** Names whose CNAME is answered with addresses: the zone, and proxied names with other records. */
function flattenedNames(records: readonly ExportObject[], apex: string): ReadonlySet<string> {
  const names = new Set([apex])
  const others = records.filter((one) => one.text('type') !== 'CNAME')
  const taken = new Set(others.map((one) => absolute(one.text('name')).toLowerCase()))
  for (const one of records) {
    const name = absolute(one.text('name')).toLowerCase()
    if (one.flag('proxied') === true && taken.has(name)) names.add(name)
  }
  return names
}

const bookkeeping = [
  'id',
  'zone_id',
  'zone_name',
  'proxiable',
  'meta',
  'locked',
  'comment',
  'tags',
  'created_on',
  'modified_on',
  'comment_modified_on',
  'tags_modified_on',
]

/** Cloudflare leaves out final dots and keeps parts of a value in separate fields. */
function valueOf(type: string, record: ExportObject): string {
  const content = record.text('content')
  const data = record.object('data')
  const from = (...names: readonly string[]): string[] => names.map((name) => data.text(name))
  const target = data.text('target')
  switch (type) {
    case 'CNAME':
    case 'NS':
    case 'PTR':
    case 'DNAME':
      return absolute(content)
    case 'MX':
      return `${record.text('priority')} ${content}`
    case 'TXT':
    case 'SPF':
      return content.startsWith('"') ? content : quotedStrings(content)
    case 'SRV':
      if (target === '') break
      record.aside('part of the value', 'priority')
      data.aside('the name of the record again', 'name', 'service', 'proto')
      return `${from('priority', 'weight', 'port').join(' ')} ${target}`
    case 'CAA':
      if (!data.has('tag')) break
      return `${from('flags', 'tag').join(' ')} ${quotedStrings(data.text('value'))}`
    case 'URI':
      if (target === '') break
      return [record.text('priority'), ...from('weight'), quotedStrings(target)].join(' ')
    case 'HTTPS':
    case 'SVCB':
      if (target === '') break
      record.aside('part of the value', 'priority')
      return [...from('priority'), target, ...from('value')].join(' ').trim()
  }
  data.aside('the content says it, too', ...data.keys())
  return content
}
