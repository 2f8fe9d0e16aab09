// Converts a dynamic record of octoDNS to a pool and a service: its pools, and the rules that
// choose one.
import type { JsonObject } from '#compiler/yaml/text.ts'
import type { ZonePlace } from '#dns/zone-file/zone-record.ts'
import type { ExportObject } from '#import/fields/export-object.ts'
import { everywhere, oneRegionEach } from './member-regions.ts'
import type { BalancedMember, BalancedPool, ZoneBuilder } from './zone-builder.ts'

export interface OctodnsRecord {
  /** Absolute. */
  readonly name: string
  readonly type: string
  readonly ttl: number
  readonly fields: ExportObject
  readonly place: ZonePlace
}

type Say = (is: 'not mapped' | 'changed', why: string) => undefined

/** The result for one record. */
interface Mapped {
  readonly algorithm: 'weighted-round-robin' | 'failover' | 'geo'
  readonly members: readonly BalancedMember[]
  /** Whether octoDNS probes them: pools with `status: up` are not probed. */
  readonly isProbed: boolean
  /** Answered when all members are down, whatever their health. */
  readonly fallback: readonly BalancedMember[]
}

/** @param records A and AAAA, or the CNAME, of one name; at least one of them dynamic */
export function dynamicName(records: readonly OctodnsRecord[], builder: ZoneBuilder): void {
  const [first] = records
  if (first === undefined) return
  const mapped = records
    .map((record) => mappedRecord(record, builder))
    .filter((one) => one !== undefined)
  const [one, ...others] = mapped
  if (one === undefined) return
  const isOneWay = others.every(({ algorithm }) => algorithm === one.algorithm)
  if (!isOneWay) {
    for (const { name, type, fields, place } of records) {
      const text = `${name} ${type}: A and AAAA choose in different ways, and a service has one`
      builder.note('not mapped', place, text)
      fields.markReported()
    }
    return
  }
  const say: Say = (is, why) => void builder.note(is, first.place, `${first.name}: ${why}`)
  const ttls = records.map(({ ttl }) => ttl)
  const [low, high] = [Math.min(...ttls), Math.max(...ttls)]
  if (low < high) say('changed', `TTL ${low} for all of it, some had ${high}`)
  const members = mapped.flatMap((each) => each.members)
  const fallback = mapped.flatMap((each) => each.fallback)
  const isProbed = mapped.some((each) => each.isProbed)
  const checks = records.map(healthCheckOf)
  if (isProbed && new Set(checks.map((check) => JSON.stringify(check))).size > 1) {
    say('changed', 'its records have different health checks; a pool has one, that of the first')
  }
  const answer = first.type === 'CNAME' ? ({ answer: 'cname' } as const) : {}
  const healthCheck = isProbed ? checks[0] : undefined
  const pool: BalancedPool = { members: [...members], healthCheck, ...answer }
  builder.balanced({
    domain: first.name,
    ttl: low,
    place: first.place,
    ...pool,
    choice: choiceOf(one.algorithm, members),
    fallback: isProbed && fallback.length > 0 ? { members: fallback, ...answer } : undefined,
  })
}

function choiceOf(algorithm: Mapped['algorithm'], members: readonly BalancedMember[]): JsonObject {
  if (algorithm !== 'geo') return { algorithm }
  const regions = new Set(members.map(({ region, target }) => `${region} ${target.includes(':')}`))
  const isShared = regions.size < members.length
  return { algorithm: '', filterChain: ['geo-ip', ...(isShared ? ['weighted-round-robin'] : [])] }
}

function mappedRecord(record: OctodnsRecord, builder: ZoneBuilder): Mapped | undefined {
  const { name, type, fields, place } = record
  const say: Say = (is, why) => void builder.note(is, place, `${name} ${type}: ${why}`)
  const dynamic = fields.object('dynamic')
  const rules = dynamic.objects('rules')
  if (rules.length === 0) {
    fields.markReported()
    return say('not mapped', 'it has values without rules beside dynamic ones')
  }
  const pools = dynamic.object('pools')
  const given = fields.texts(fields.has('value') ? 'value' : 'values').map(plainMember)
  if (given.length > 1) {
    say('changed', 'its values were answered all when its pools are down; now one of them is')
  }
  const isByPlace =
    rules.length > 1 || rules.some((rule) => rule.has('geos') || rule.has('subnets'))
  const mapped = isByPlace
    ? byPlace(rules, pools, given, say)
    : byOrder(rules[0]!.text('pool'), pools, given, say)
  for (const key of pools.keys()) {
    const pool = pools.object(key)
    if (pool.isRead('values')) continue
    builder.note('left out', pool.place, `${name} ${type}: no rule comes to the pool ${key}`)
    pool.markReported()
  }
  return mapped
}

const plainMember = (target: string): BalancedMember => ({ target })

/** A pool and its fallbacks. */
function byOrder(
  start: string,
  pools: ExportObject,
  given: readonly BalancedMember[],
  say: Say,
): Mapped {
  const order: Pool[] = []
  for (let name = start; name !== '' && order.every((one) => one.name !== name);) {
    const pool = poolNamed(pools, name)
    order.push(pool)
    name = pools.object(name).text('fallback')
    // A pool that is always up is never followed by another.
    if (pool.isUp) break
  }
  const isEndless = order.at(-1)!.isUp
  const last = isEndless && order.length > 1 ? order.pop()!.members : given
  const fallback = isEndless && order.length === 1 && last === given ? [] : last
  const isProbed = order.some(({ isUp }) => !isUp)
  sayMixed(order, say)
  const [first] = order
  if (order.length === 1) {
    return { algorithm: 'weighted-round-robin', members: first!.members, isProbed, fallback }
  }
  if (order.some(({ members }) => members.length > 1)) {
    say('changed', 'weights inside a pool with a fallback; now the first healthy member answers')
  }
  const members = order.flatMap((pool, i) =>
    pool.members.map(({ weight: _, ...member }) => ({ ...member, priority: i + 1 })),
  )
  return { algorithm: 'failover', members, isProbed, fallback }
}

/** Rules by place: members get its region. */
function byPlace(
  rules: readonly ExportObject[],
  pools: ExportObject,
  given: readonly BalancedMember[],
  say: Say,
): Mapped | undefined {
  const used: Pool[] = []
  const members = rules.flatMap((rule) => {
    const name = rule.text('pool')
    const geos = rule.texts('geos')
    const isOfNetworks = rule.has('subnets') && geos.length === 0
    if (isOfNetworks || geos.length > 1) {
      const why = isOfNetworks
        ? `its subnets get pool ${name}; write them as geoRules of the pool`
        : `a member has one region, and pool ${name} has ${geos.join(', ')}`
      rule.markReported()
      return say('not mapped', why) ?? []
    }
    const pool = poolNamed(pools, name)
    used.push(pool)
    const region = geos[0] === undefined ? everywhere : regionOf(geos[0])
    if (pools.object(name).has('fallback')) {
      const next = pools.object(name).text('fallback')
      say('changed', `where pool ${name} is down pool ${next} answered, now the next wider region`)
    }
    return pool.members.map((member) => ({ ...member, region }))
  })
  sayWider(rules, pools, given, say)
  const isForAll = members.some(({ region }) => region === everywhere)
  const rest = isForAll ? [] : given.map((member) => ({ ...member, region: everywhere }))
  sayMixed(used, say)
  return {
    algorithm: 'geo',
    members: oneRegionEach([...members, ...rest], (why) => say('not mapped', why)),
    isProbed: used.some(({ isUp }) => !isUp),
    fallback: given,
  }
}

/** octoDNS answers the values where a pool without a fallback is down. */
function sayWider(
  rules: readonly ExportObject[],
  pools: ExportObject,
  given: readonly BalancedMember[],
  say: Say,
): void {
  const own = new Set(given.map(({ target }) => target))
  const isOwn = (pool: string): boolean =>
    poolNamed(pools, pool).members.every(({ target }) => own.has(target))
  const mapped = rules
    .map((rule) => ({ pool: rule.text('pool'), geos: rule.texts('geos'), rule }))
    .filter(({ geos, rule }) => geos.length === 1 || (geos.length === 0 && !rule.has('subnets')))
  for (const { pool: name, geos } of mapped) {
    const [place] = geos
    if (place === undefined || pools.object(name).has('fallback')) continue
    if (poolNamed(pools, name).isUp) continue
    const wider = mapped.filter((one) => {
      const [region] = one.geos
      const isEnclosing = region === undefined || place.startsWith(`${region}-`)
      return isEnclosing && one.pool !== name
    })
    if (wider.every((one) => isOwn(one.pool))) continue
    say('changed', `where pool ${name} is down its values answered, now the next wider region`)
  }
}

/** Converts `NA-US-CA`, `NA-US` and `NA` to regions of members. */
function regionOf(geo: string): string {
  const [continent = '', country, subdivision] = geo.split('-')
  if (country === undefined) return `continent:${continent}`
  return subdivision === undefined ? country : `${country}-${subdivision}`
}

interface Pool {
  readonly name: string
  readonly members: readonly (BalancedMember & { readonly weight: number })[]
  /** All of its values are up without probes. */
  readonly isUp: boolean
  /** Some of its values are up without probes. */
  readonly isMixed: boolean
}

function poolNamed(pools: ExportObject, name: string): Pool {
  const values = pools.object(name).objects('values')
  const states = values.map((one) => one.text('status') || 'obey')
  const members = values.map((one, i) => ({
    target: one.text('value'),
    name,
    weight: one.number('weight') ?? 1,
    ...(states[i] === 'down' ? { enabled: false } : {}),
  }))
  const live = states.filter((state) => state !== 'down')
  const isUp = live.length > 0 && live.every((state) => state === 'up')
  return { name, members, isUp, isMixed: !isUp && live.includes('up') }
}

function sayMixed(pools: readonly Pool[], say: Say): void {
  const isProbed = pools.some(({ isUp }) => !isUp)
  for (const { name, isUp, isMixed } of pools) {
    if (!isMixed && !(isUp && isProbed)) continue
    say('changed', `values of pool ${name} are up whatever their health; now they are probed, too`)
  }
}

/** The default of octoDNS: HTTPS to `/_dns` on port 443, for the name of the record. */
function healthCheckOf({ name, fields }: OctodnsRecord): JsonObject {
  const check = fields.object('octodns').object('healthcheck')
  const protocol = check.text('protocol').toUpperCase() || 'HTTPS'
  const port = check.number('port') ?? 443
  if (protocol === 'TCP') return { type: 'tcp', port }
  if (protocol === 'ICMP') return { type: 'icmp' }
  const host = check.keys().includes('host') ? check.text('host') : name.replace(/\.$/, '')
  return {
    type: 'http',
    port,
    httpPath: check.text('path') || '/_dns',
    ...(host === '' || host.startsWith('*') ? {} : { httpHost: host }),
    ...(protocol === 'HTTPS' ? { tls: true } : {}),
  }
}
