// Converts a name of Route 53 with several answers to a pool and a service.
import type { JsonObject } from '#compiler/yaml/text.ts'
import { answerCountMax } from '#schemas/objects/service.ts'
import { countryOfRegion } from './aws-regions.ts'
import type { ExportObject } from '#import/fields/export-object.ts'
import { everywhere, oneRegionEach } from './member-regions.ts'
import type { Route53Check } from './route53-health-check.ts'
import { absolute, aliasTtl } from './route53-set.ts'
import type { Route53Set } from './route53-set.ts'
import { wholeWeights } from './whole-weights.ts'
import type { BalancedMember, BalancedPool, ZoneBuilder } from './zone-builder.ts'

/** The result for a name: its pool, and the choice among members. */
interface Choice extends BalancedPool {
  readonly choice: JsonObject
  readonly fallback?: BalancedPool
}

/** A set, its members, and its health check. */
interface Part {
  readonly set: Route53Set
  readonly targets: readonly string[]
  /** undefined: the set always counts as healthy. */
  readonly check: Route53Check | undefined
}

/** The fields that tell how a set is chosen, and their conversion. */
interface Way {
  readonly field: string
  readonly choose: (parts: readonly Part[], say: Say) => Choice
}

type Say = (is: 'changed' | 'not mapped', why: string, set?: Route53Set) => void

/** Limit of Route 53 for answers with several values. */
const multiValueMax = 8

export function balancedName(
  sets: readonly Route53Set[],
  checks: ReadonlyMap<string, Route53Check>,
  builder: ZoneBuilder,
): void {
  const [first] = sets
  if (first === undefined) return
  const { name, place } = first
  const say: Say = (is, why, set) => {
    const label = set === undefined ? name : [name, set.type, set.id].filter(Boolean).join(' ')
    builder.note(is, set?.place ?? place, `${label}: ${why}`)
    if (is === 'not mapped') set?.fields.markReported()
  }
  const way = ways.find(({ field }) => sets.some(({ fields }) => fields.has(field)))
  if (way === undefined) {
    for (const set of sets) {
      say('not mapped', 'nothing here chooses by bias or by a list of networks; see mapFile', set)
    }
    return
  }
  const parts = sets.flatMap((set) => partOf(set, way, checks, say))
  if (parts.length === 0) return
  const ttls = parts.flatMap(({ set: { ttl } }) => ttl ?? [])
  const [low, high] = [Math.min(...ttls), Math.max(...ttls)]
  if (low < high) say('changed', `TTL ${low} for all of it, some had ${high}`)
  builder.balanced({
    domain: name,
    ttl: ttls.length === 0 ? aliasTtl : low,
    place,
    ...(first.type === 'CNAME' ? asAlias(way.choose(parts, say)) : way.choose(parts, say)),
  })
}

/** The values are host names, so the answer is an alias. */
function asAlias({ fallback, choice, ...pool }: Choice): Choice {
  const { answerCount: _, ...one } = choice
  const answer = { answer: 'cname' } as const
  const standby = fallback === undefined ? {} : { fallback: { ...fallback, ...answer } }
  return { ...pool, ...answer, choice: one, ...standby }
}

function partOf(
  set: Route53Set,
  way: Way,
  checks: ReadonlyMap<string, Route53Check>,
  say: Say,
): Part[] {
  if (set.isBalanced && !set.fields.has(way.field)) {
    say('not mapped', `the name is balanced by ${way.field}; one service has one way`, set)
    return []
  }
  const values = set.type === 'CNAME' ? set.values.map(absolute) : set.values
  const targets = set.alias === undefined ? values : [set.alias]
  const id = set.fields.text('HealthCheckId')
  const check = checks.get(id)
  if (id !== '' && check === undefined) {
    const how = 'put the HealthChecks of "aws route53 list-health-checks" into the same object'
    say('changed', `the export does not say what its health check does; ${how}`, set)
  }
  return [{ set, targets, check: check?.healthCheck === undefined ? undefined : check }]
}

const ways: readonly Way[] = [
  { field: 'Weight', choose: byWeight },
  { field: 'Failover', choose: byOrder },
  { field: 'Region', choose: byLatency },
  { field: 'GeoLocation', choose: byPlace },
  { field: 'MultiValueAnswer', choose: allOfThem },
]

/** The share of a set is its weight, independent of its size: its members divide it. */
function byWeight(parts: readonly Part[], say: Say): Choice {
  const weights = parts.map(({ set }) => set.fields.number('Weight') ?? 1)
  const isDrained = weights.every((weight) => weight === 0)
  const shares = parts.map((part, i) => (isDrained ? 1 : weights[i]!) / part.targets.length)
  const whole = wholeWeights(shares)
  const weighted = parts.map((part, i) => ({ part, weight: whole[i]! }))
  saySingle(parts, say)
  const membersFrom = (some: typeof weighted): BalancedMember[] => {
    const isAllZero = some.every(({ weight }) => weight === 0)
    return merged(
      some.flatMap(({ part, weight }) => membersOf(part, { weight: isAllZero ? 1 : weight })),
    )
  }
  const healthCheck = checkOf(parts, say)
  const [zero, others] = [weighted.filter(isZero), weighted.filter((one) => !isZero(one))]
  const choice = { algorithm: 'weighted-round-robin' }
  if (healthCheck === undefined || zero.length === 0 || others.length === 0) {
    return { choice: withAllDown(choice, healthCheck), healthCheck, members: membersFrom(weighted) }
  }
  const fallback = { healthCheck, members: membersFrom(zero) }
  return { choice, healthCheck, members: membersFrom(others), fallback }
}

const isZero = ({ weight }: { readonly weight: number }): boolean => weight === 0

/** The secondary becomes a fallback pool: its health check may differ or be missing. */
function byOrder(parts: readonly Part[], say: Say): Choice {
  const roles = parts.map(({ set }) => set.fields.text('Failover'))
  const first = parts.filter((_, i) => roles[i] !== 'SECONDARY')
  const second = parts.filter((_, i) => roles[i] === 'SECONDARY')
  const checks = new Set(parts.map(({ check }) => JSON.stringify(check?.healthCheck)))
  const isSingle = parts.every(({ targets }) => targets.length === 1)
  const [check] = checks
  if (checks.size === 1 && check !== undefined && isSingle) {
    const members = parts.flatMap((part) =>
      membersOf(part, { priority: second.includes(part) ? 2 : 1 }),
    )
    const healthCheck = checkOf(parts, say)
    return {
      choice: withAllDown({ algorithm: 'failover' }, check),
      healthCheck,
      members: merged(members),
    }
  }
  const poolOf = (some: readonly Part[], isStandby = false): BalancedPool => ({
    healthCheck: checkOf(some, say, isStandby),
    members: merged(some.flatMap((part) => membersOf(part, {}))),
  })
  const choice = { algorithm: 'round-robin', ...countOf(parts, say) }
  if (first.length === 0 || second.length === 0) return { choice, ...poolOf(parts) }
  if (second.some((part) => part.check !== undefined)) {
    say('changed', 'with both unhealthy the primary was answered; now there is no address')
  }
  return { choice, ...poolOf(first), fallback: poolOf(second, true) }
}

function byLatency(parts: readonly Part[], say: Say): Choice {
  const known = parts.filter(({ set }) => {
    const name = set.fields.text('Region')
    const isKnown = !set.isBalanced || countryOfRegion[name] !== undefined
    if (!isKnown) say('not mapped', `where is the region ${name}?`, set)
    return isKnown
  })
  const all = known.flatMap((part) => {
    const region = countryOfRegion[part.set.fields.text('Region')]
    return membersOf(part, region === undefined ? {} : { region })
  })
  saySingle(known, say)
  const healthCheck = checkOf(known, say)
  const how =
    healthCheck === undefined
      ? 'latency was measured from clients; now the region of a client decides'
      : 'latency goes by the probes of each node here, and by regions of clients'
  say('changed', how)
  const choice =
    healthCheck === undefined
      ? { algorithm: '', filterChain: ['geo-ip'] }
      : { algorithm: 'latency' }
  const members = oneRegionEach(all, (why) => say('not mapped', why))
  return { choice: withAllDown(choice, healthCheck), healthCheck, members }
}

/** The filter keeps the members of one region, so a set is answered whole. */
function byPlace(parts: readonly Part[], say: Say): Choice {
  const regions = parts.map(({ set }) => regionOf(set.fields.object('GeoLocation')))
  const all = parts.flatMap((part, i) => membersOf(part, { region: regions[i]! }))
  const members = oneRegionEach(all, (why) => say('not mapped', why))
  if (!regions.includes(everywhere)) {
    say('changed', 'a client elsewhere got no address; it gets those of the nearest region now')
  }
  const healthCheck = checkOf(parts, say)
  const choice = { algorithm: '', filterChain: ['geo-ip'], ...countOf(parts, say) }
  return { choice: withAllDown(choice, healthCheck), healthCheck, members }
}

/** Without a place: the only set of its type. */
function regionOf(place: ExportObject): string {
  const continent = place.text('ContinentCode')
  if (continent !== '') return `continent:${continent}`
  const country = place.text('CountryCode')
  if (country === '' || country === '*') return everywhere
  const subdivision = place.text('SubdivisionCode')
  return subdivision === '' ? country : `${country}-${subdivision}`
}

function allOfThem(parts: readonly Part[], say: Say): Choice {
  for (const { set } of parts) set.fields.flag('MultiValueAnswer')
  const healthCheck = checkOf(parts, say)
  const members = merged(parts.flatMap((part) => membersOf(part, {})))
  const answerCount = Math.min(multiValueMax, Math.max(...countsByType(parts)))
  const choice = withAllDown({ algorithm: 'round-robin', answerCount }, healthCheck)
  return { choice, healthCheck, members }
}

/** Route 53 treats all records as healthy if none is. */
const withAllDown = (choice: JsonObject, healthCheck: unknown): JsonObject =>
  healthCheck === undefined ? choice : { ...choice, onAllDown: 'all' }

/** The number of addresses in the largest set. */
function countOf(parts: readonly Part[], say: Say): JsonObject {
  const most = Math.max(...parts.map(({ targets }) => targets.length))
  if (most > answerCountMax) {
    say('changed', `${most} addresses were answered; now ${answerCountMax} of them in turn are`)
  }
  return most > 1 ? { answerCount: Math.min(answerCountMax, most) } : {}
}

function countsByType(parts: readonly Part[]): readonly number[] {
  const types = Map.groupBy(parts, ({ set }) => set.type)
  return [...types.values()].map((some) => some.reduce((sum, one) => sum + one.targets.length, 0))
}

function saySingle(parts: readonly Part[], say: Say): void {
  const several = parts.find(({ targets }) => targets.length > 1)
  if (several === undefined) return
  const text = 'a set of several addresses was answered whole; now one of them is, in its share'
  say('changed', text, several.set)
}

function membersOf(
  { set, targets }: Part,
  extra: Partial<BalancedMember>,
): readonly BalancedMember[] {
  return targets.map((target) => ({
    target,
    ...(set.id === '' ? {} : { name: set.id }),
    ...extra,
  }))
}

/** A target is one member: the weights of a target in several sets add up. */
function merged(members: readonly BalancedMember[]): BalancedMember[] {
  const found = new Map<string, BalancedMember>()
  for (const one of members) {
    const known = found.get(one.target)
    if (known === undefined) found.set(one.target, one)
    else if (known.weight !== undefined && known.name !== one.name) {
      found.set(one.target, { ...known, weight: known.weight + (one.weight ?? 0) })
    }
  }
  return [...found.values()]
}

/** One health check for all: a pool has one. @param isStandby true: may have none */
function checkOf(parts: readonly Part[], say: Say, isStandby = false): JsonObject | undefined {
  const checked = parts.filter(({ check }) => check !== undefined)
  const [first] = checked
  if (first === undefined) {
    const isNamed = parts.some(({ set }) => set.fields.text('HealthCheckId') !== '')
    if (!isNamed && !isStandby) {
      say('changed', 'without a health check all members count as healthy; add one to the pool')
    }
    return undefined
  }
  const { healthCheck } = first.check!
  for (const { set, targets, check } of parts) {
    const { asks } = check ?? { asks: '' }
    if (check === undefined) {
      const text = 'it has no health check and was always healthy; now it is probed as the others'
      say('changed', text, set)
    } else if (JSON.stringify(check.healthCheck) !== JSON.stringify(healthCheck)) {
      say('changed', 'it has another health check; a pool has one, that of the first set', set)
    } else if (asks !== '' && targets.some((target) => target !== asks && target !== `${asks}.`)) {
      say('changed', `its health check asks ${asks}; now each member is asked itself`, set)
    }
  }
  return healthCheck
}
