// A dynamic record of octoDNS as a pool and a service: its pools, and the rules that choose one.
import type { JsonObject } from '#compiler/yaml/text.ts'
import type { ZonePlace } from '#dns/zone-file/zone-record.ts'
import { fieldsOf, listOf, numberOf, textOf } from './export-document.ts'
import type { Fields } from './export-document.ts'
import type { BalancedMember, ZoneBuilder } from './zone-builder.ts'

export interface OctodnsRecord {
  /** Absolute. */
  readonly name: string
  readonly type: string
  readonly ttl: number
  readonly fields: Fields
  readonly place: ZonePlace
}

/** @param records A and AAAA of one name, at least one of them dynamic */
export function dynamicName(records: readonly OctodnsRecord[], builder: ZoneBuilder): void {
  const [first] = records
  if (first === undefined) return
  const mapped = records.map((record) => mappedRecord(record, builder))
  const kinds = new Set(mapped.flatMap((one) => (one === undefined ? [] : [one.algorithm])))
  const [algorithm, other] = [...kinds]
  if (algorithm === undefined) return
  if (other !== undefined) {
    const text = `${first.name}: its A and AAAA records choose in different ways; a service has one`
    return builder.note('not mapped', first.place, text)
  }
  const healthCheck = healthCheckOf(first.fields)
  builder.balanced({
    domain: first.name,
    ttl: Math.min(...records.map(({ ttl }) => ttl)),
    members: mapped.flatMap((one) => one?.members ?? []),
    choice: algorithm === 'geo' ? { algorithm: '', filterChain: ['geo-ip'] } : { algorithm },
    healthCheck,
  })
}

interface Mapped {
  readonly algorithm: 'weighted-round-robin' | 'failover' | 'geo'
  readonly members: readonly BalancedMember[]
}

function mappedRecord(record: OctodnsRecord, builder: ZoneBuilder): Mapped | undefined {
  const { name, type, fields, place } = record
  const say = (is: 'not mapped' | 'changed', why: string): undefined =>
    void builder.note(is, place, `${name} ${type}: ${why}`)
  const dynamic = fieldsOf(fields['dynamic'])
  const pools = fieldsOf(dynamic['pools'])
  const rules = listOf(dynamic['rules']).map(fieldsOf)
  if (rules.length === 0)
    return say('not mapped', 'it has addresses without rules beside dynamic ones')
  if (rules.some((rule) => rule['subnets'] !== undefined)) {
    return say('not mapped', 'rules by subnets; write them as geoRules of the pool')
  }
  if (rules.length > 1 || listOf(rules[0]!['geos']).length > 0) return byPlace(rules, pools, say)
  return byOrder(textOf(rules[0]!['pool']), pools, say)
}

type Say = (is: 'not mapped' | 'changed', why: string) => undefined

/** One pool, and those that stand in for it. */
function byOrder(start: string, pools: Fields, say: Say): Mapped | undefined {
  const order: string[] = []
  for (let name = start; name !== '' && !order.includes(name);) {
    order.push(name)
    name = textOf(fieldsOf(pools[name])['fallback'])
  }
  const members = order.map((name) => membersOf(pools, name))
  if (members.length === 1) return { algorithm: 'weighted-round-robin', members: members[0]! }
  if (members.some((list) => list.length > 1)) {
    say('changed', 'weights inside a pool with a fallback; now the first healthy member answers')
  }
  const ranked = members.flatMap((list, i) =>
    list.map(({ weight: _, ...member }) => ({ ...member, priority: i + 1 })),
  )
  return { algorithm: 'failover', members: ranked }
}

/** A rule for each place: members have its region. */
function byPlace(rules: readonly Fields[], pools: Fields, say: Say): Mapped | undefined {
  const members = rules.flatMap((rule) => {
    const name = textOf(rule['pool'])
    const geos = listOf(rule['geos']).map(textOf)
    if (geos.length > 1) {
      say('not mapped', `a member has one region, and pool ${name} has ${geos.join(', ')}`)
      return []
    }
    const [geo] = geos
    const own = membersOf(pools, name)
    if (own.length > 1)
      say('changed', `pool ${name} has several members; the first healthy one answers`)
    return own.map(({ weight: _, ...member }) =>
      geo === undefined ? member : { ...member, region: regionOf(geo) },
    )
  })
  if (members.length === 0) return undefined
  const addresses = members.map(({ address }) => address)
  if (new Set(addresses).size < addresses.length) {
    return say('not mapped', 'an address for several places; a member has one region')
  }
  say('changed', 'fallbacks of pools go by the nearest healthy region now')
  return { algorithm: 'geo', members }
}

/** `NA-US-CA`, `NA-US` and `NA` as regions of members are written. */
function regionOf(geo: string): string {
  const [continent = '', country, subdivision] = geo.split('-')
  if (country === undefined) return `continent:${continent}`
  return subdivision === undefined ? country : `${country}-${subdivision}`
}

function membersOf(pools: Fields, name: string): BalancedMember[] {
  return listOf(fieldsOf(pools[name])['values']).map((one) => {
    const { value, weight, status } = fieldsOf(one)
    const isOff = status === 'down'
    return {
      address: textOf(value),
      name,
      weight: numberOf(weight) ?? 1,
      ...(isOff ? { enabled: false } : {}),
    }
  })
}

/** What octoDNS assumes: HTTPS to `/_dns` on port 443. */
function healthCheckOf(fields: Fields): JsonObject {
  const check = fieldsOf(fieldsOf(fields['octodns'])['healthcheck'])
  const protocol = textOf(check['protocol']).toUpperCase() || 'HTTPS'
  const port = numberOf(check['port']) ?? 443
  if (protocol === 'TCP') return { type: 'tcp', port }
  if (protocol === 'ICMP') return { type: 'icmp' }
  const host = textOf(check['host'])
  return {
    type: 'http',
    port,
    httpPath: textOf(check['path']) || '/_dns',
    ...(host === '' ? {} : { httpHost: host }),
    ...(protocol === 'HTTPS' ? { tls: true } : {}),
  }
}
