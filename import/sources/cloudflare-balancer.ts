// Converts a load balancer of Cloudflare with its pools to a pool and a service.
import type { JsonObject } from '#compiler/yaml/text.ts'
import { parseAddress } from '#dns/address.ts'
import { cloudflareMonitor } from './cloudflare-monitor.ts'
import type { ExportObject } from '#import/fields/export-object.ts'
import { wholeWeights } from './whole-weights.ts'
import type { BalancedMember, BalancedPool, ZoneBuilder } from './zone-builder.ts'

interface BalancerParts {
  readonly balancer: ExportObject
  readonly pools: readonly ExportObject[]
  readonly monitors: readonly ExportObject[]
}

/** TTL of a load balancer without one. */
const ttlDefault = 30

/** The algorithm for each steering policy. Other policies have no equivalent. */
const algorithmOf: Readonly<Record<string, string>> = Object.freeze({
  '': 'failover',
  off: 'failover',
  random: 'weighted-round-robin',
  dynamic_latency: 'latency',
})
const placeFields = ['region_pools', 'country_pools', 'pop_pools'] as const

/** @param at subject of the remark, if it is not the balancer */
type Say = (is: 'changed' | 'not mapped', why: string, at?: ExportObject) => void

/** @returns the pools and monitors that it uses; none when it cannot be mapped */
export function loadBalancer(
  { balancer, pools, monitors }: BalancerParts,
  builder: ZoneBuilder,
): readonly ExportObject[] {
  const name = balancer.text('name')
  const say: Say = (is, why, at = balancer) => builder.note(is, at.place, `${name}: ${why}`)
  const refuse = (why: string): [] => {
    say('not mapped', why)
    balancer.markReported()
    return []
  }
  const policy = balancer.text('steering_policy')
  const algorithm = algorithmOf[policy]
  const hasPlaces = placeFields.some((key) => balancer.has(key))
  if (algorithm === undefined || (policy === '' && hasPlaces)) {
    const steering = policy === '' ? 'geo' : policy
    const how = 'write its pool with a region for each member and the filter geo-ip'
    return refuse(`steering by ${steering}; ${how}`)
  }
  readRest(balancer, say)
  const byId = new Map(pools.map((pool) => [pool.text('id'), pool]))
  const find = (id: string): ExportObject[] => {
    const pool = byId.get(id)
    if (pool === undefined) say('not mapped', `its pool ${id} is not in the export`)
    return pool === undefined ? [] : [pool]
  }
  const own = [...new Set(balancer.texts('default_pools'))].flatMap(find)
  const [last] = [balancer.text('fallback_pool')].filter(Boolean).flatMap(find)
  // The fallback is answered whatever its health: at the end of the order it needs nothing more.
  const isAtEnd = algorithm === 'failover' && own.length > 1 && own.at(-1) === last
  const used = isAtEnd ? own.slice(0, -1) : own
  const main = mainOf(used, algorithm, { balancer, pools, monitors }, say)
  if (main.members.length === 0) return refuse('none of its pools with an origin is in the export')
  const { choice, ...pool } = main
  const isSame = used.length === 1 && used[0] === last
  const fallback = last === undefined || isSame ? undefined : { members: weighted(originsOf(last)) }
  builder.balanced({
    domain: `${name}.`,
    ttl: balancer.number('ttl') ?? ttlDefault,
    place: balancer.place,
    ...pool,
    choice: isSame ? { ...choice, onAllDown: 'all' } : choice,
    fallback: fallback?.members.length === 0 ? undefined : fallback,
  })
  const all = [...used, ...(last === undefined ? [] : [last])]
  const ids = new Set(all.map((one) => one.text('monitor')))
  return [...all, ...monitors.filter((one) => ids.has(one.text('id')))]
}

/** Reads the fields that do not affect the choice. */
function readRest(balancer: ExportObject, say: Say): void {
  const keeping = ['id', 'zone_name', 'description', 'created_on', 'modified_on']
  balancer.aside('says how the load balancer is kept, not what it answers', ...keeping)
  balancer.aside('this steering does not look at it', ...placeFields)
  if (balancer.flag('proxied') === true) {
    say('changed', 'its clients saw addresses of Cloudflare, and will see those of the origins')
  }
  const affinity = balancer.text('session_affinity')
  if (affinity !== '' && affinity !== 'none') {
    const how = 'the filter sticky keeps clients by their network'
    say('not mapped', `session affinity by ${affinity} is of the proxy; ${how}`)
  } else {
    const rest = ['session_affinity_ttl', 'session_affinity_attributes']
    balancer.aside('there is no session affinity', ...rest)
  }
  balancer.object('adaptive_routing').asUsual('failover_across_pools', false)
  balancer.object('location_strategy').asUsual('prefer_ecs', 'proximity')
  balancer.object('location_strategy').asUsual('mode', 'pop')
}

function mainOf(
  pools: readonly ExportObject[],
  algorithm: string,
  { balancer, monitors }: BalancerParts,
  say: Say,
): BalancedPool & { readonly choice: JsonObject } {
  const origins = pools.map((pool) => originsOf(pool))
  const healthCheck = monitorOf(pools, monitors, say)
  const [only] = pools
  if (pools.length === 1 && algorithm === 'failover') {
    const minHealthy = only!.number('minimum_origins') ?? 1
    const members = weighted(origins[0]!)
    return { choice: { algorithm: 'weighted-round-robin' }, members, healthCheck, minHealthy }
  }
  const choice = { algorithm }
  for (const pool of pools) pool.asUsual('minimum_origins', 0, 1)
  if (algorithm === 'weighted-round-robin') {
    const steering = balancer.object('random_steering')
    const usual = steering.number('default_weight') ?? 1
    const shares = pools.map((pool) => {
      return steering.object('pool_weights').number(pool.text('id')) ?? usual
    })
    return {
      choice,
      members: weighted(origins.flatMap((list, i) => scaled(list, shares[i]!))),
      healthCheck,
    }
  }
  balancer.aside('this steering does not look at it', 'random_steering')
  const isShared = origins.some((list) => list.filter((one) => one.enabled !== false).length > 1)
  if (algorithm === 'failover' && isShared) {
    say('changed', 'weights inside a pool were looked at; now its first healthy origin answers')
  }
  const ranked = origins.map((list, i) =>
    list.map(({ share: _, ...one }) =>
      algorithm === 'failover' ? { ...one, priority: i + 1 } : one,
    ),
  )
  return { choice, members: unique(ranked.flat()), healthCheck }
}

interface Origin extends BalancedMember {
  readonly share: number
}

/** The share of a pool is independent of its size: its origins divide it by their weights. */
function scaled(origins: readonly Origin[], share: number): readonly Origin[] {
  const enabled = origins.filter((one) => one.enabled !== false)
  const sum = (enabled.length === 0 ? origins : enabled).reduce((all, one) => all + one.share, 0)
  return origins.map((one) => ({ ...one, share: sum === 0 ? 0 : (one.share * share) / sum }))
}

function weighted(origins: readonly Origin[]): readonly BalancedMember[] {
  const weights = wholeWeights(origins.map(({ share }) => share))
  return unique(origins.map(({ share: _, ...one }, i) => ({ ...one, weight: weights[i]! })))
}

/** An origin of several pools becomes one member with the sum of its shares. */
function unique(members: readonly BalancedMember[]): readonly BalancedMember[] {
  const found = new Map<string, BalancedMember>()
  for (const one of members) {
    const key = `${one.target} ${one.port ?? ''}`
    const known = found.get(key)
    if (known === undefined) found.set(key, one)
    else if (known.weight !== undefined) {
      found.set(key, { ...known, weight: known.weight + (one.weight ?? 0) })
    }
  }
  return [...found.values()]
}

function originsOf(pool: ExportObject): readonly Origin[] {
  pool.aside('says how the pool is kept, not what it answers', ...bookkeeping)
  pool.aside('the probes come from the nodes now', 'check_regions')
  pool.aside('steering by proximity looks at it, and this one does not', 'latitude', 'longitude')
  pool.object('origin_steering').asUsual('policy', 'random')
  const shedding = pool.object('load_shedding')
  shedding.asUsual('default_percent', 0)
  shedding.asUsual('session_percent', 0)
  if (shedding.isRead('default_percent')) {
    shedding.aside('nothing is shed', 'default_policy', 'session_policy')
  }
  const isPoolOff = pool.flag('enabled') === false
  return pool.objects('origins').map((origin) => {
    origin.aside('says since when', 'disabled_at')
    const address = origin.text('address')
    const port = origin.number('port') ?? 0
    const isOff = origin.flag('enabled') === false || isPoolOff
    return {
      target: parseAddress(address).ok ? address : `${address.replace(/\.$/, '')}.`,
      name: `${pool.text('name')}/${origin.text('name')}`,
      ...(port === 0 ? {} : { port }),
      share: origin.number('weight') ?? 1,
      ...(isOff ? { enabled: false } : {}),
    }
  })
}

const bookkeeping = [
  'id',
  'description',
  'created_on',
  'modified_on',
  'disabled_at',
  'healthy',
  'notification_email',
  'notification_filter',
]

/** One monitor for all: a pool has one health check. */
function monitorOf(
  pools: readonly ExportObject[],
  monitors: readonly ExportObject[],
  say: Say,
): JsonObject | undefined {
  const ids = new Set(pools.map((pool) => pool.text('monitor')))
  const used = monitors.filter((one) => ids.has(one.text('id')))
  const [first] = used
  if (first === undefined) {
    say('not mapped', 'its monitor is not in the export; add a health check')
    return undefined
  }
  for (const other of used.slice(1)) {
    const text = `its pools have different monitors; a pool has one, ${first.text('id')}`
    say('not mapped', text, other)
    other.markReported()
  }
  const check = cloudflareMonitor(first)
  if (typeof check !== 'string') return check
  say('not mapped', `its monitor: ${check}`, first)
  return undefined
}
