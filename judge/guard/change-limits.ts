// Lists the limits on what one change alters: what each measures, and how a breach is worded.
import { lostBetween } from '#compiler/lower/answers.ts'
import type { PoolOutline, ZoneOutline } from '#compiler/lower/change-outline.ts'
import type { NameFacts } from '#compiler/lower/name-outline.ts'
import {
  changedNamesFree,
  ttlJumpFreeSeconds,
  zoneTtlFreeSeconds,
} from '#schemas/objects/guardrails.ts'
import type { changeLimitDefaults } from '#schemas/objects/guardrails.ts'
import { isOwn, namesIn } from './change.ts'
import type { Change, TenantName } from './change.ts'
import { areTooMany, listed, removalIn, totalsOf } from './removal.ts'

export type LimitName = 'removedNames' | keyof typeof changeLimitDefaults

/** Limits by name; left out: there is none. */
export type Limits = { readonly [Name in LimitName]?: number | undefined }

export interface Found {
  /** Effect of the change, as the end of a sentence that begins "Commit c0ffee …". */
  readonly words: string
  /** The tenant of everything that the words name or count; null: there are several. */
  readonly owner: string | null
}

/** A request is judged alone, and together with the requests of ten minutes before it. */
export type Scope = 'alone' | 'together'

interface Row {
  readonly limit: LimitName
  readonly scopes: readonly Scope[]
  /** Finds a breach; undefined: the change is within the limit. */
  readonly find: (change: Change, max: number, tenant: TenantName) => Found | undefined
}

/** In order of priority: of several breaches the first is reported. */
export const limitRows: readonly Row[] = Object.freeze([
  { limit: 'removedNames', scopes: ['alone', 'together'], find: removedNames },
  { limit: 'removedMembers', scopes: ['together'], find: removedMembers },
  { limit: 'lostRedundancy', scopes: ['together'], find: lostRedundancy },
  { limit: 'ttlJump', scopes: ['alone'], find: zoneTtl },
  { limit: 'ttlJump', scopes: ['together'], find: ttlJump },
  { limit: 'changedNames', scopes: ['together'], find: changedNames },
  { limit: 'lostAnswers', scopes: ['alone'], find: lostAnswers },
  { limit: 'replacedServers', scopes: ['alone'], find: replacedServers },
])

const ofMany = (words: string): Found => ({ words, owner: null })

function removedNames(change: Change, max: number, tenant: TenantName): Found | undefined {
  const words = removalIn(change, max, tenant)
  return words === undefined ? undefined : ofMany(words)
}

function removedMembers({ before, after, part }: Change, max: number): Found | undefined {
  for (const [name, own] of (part?.own ?? before).pools) {
    const [was, now] = [before.pools.get(name), after.pools.get(name)]
    // When the whole pool is removed, other limits count what its names lose.
    if (was === undefined || now === undefined || goneOf(own, now).length === 0) continue
    const gone = goneOf(was, now)
    // Members that replace removed ones are no loss.
    const lost = Math.min(gone.length, was.members.length - now.members.length)
    if (!areTooMany(lost, was.members.length, max)) continue
    const whose = `of the ${was.members.length} members of pool "${name}"`
    const words = `takes away ${lost} ${whose} (${listed(gone)}), more than ${max} %`
    return { words, owner: was.tenant }
  }
  return undefined
}

function goneOf({ members }: PoolOutline, now: PoolOutline): readonly string[] {
  const left = new Set(now.members)
  return members.filter((member) => !left.has(member))
}

function lostRedundancy(change: Change, max: number, tenant: TenantName): Found | undefined {
  const { before, after, part } = change
  if (part !== undefined && !losesMembers(part.own, after)) return undefined
  const lost: string[] = []
  for (const [name, pool] of before.pools) {
    const now = after.pools.get(name)
    if (now !== undefined && now.members.length < 2 && isRedundant(pool)) lost.push(name)
  }
  if (lost.length < 2) return undefined
  const total =
    part?.totals.redundantPools(tenant) ??
    [...before.pools].filter(([, pool]) => isRedundant(pool)).length
  if (!areTooMany(lost.length, total, max)) return undefined
  const share = `${lost.length} of ${total} pools (${listed(lost)})`
  return ofMany(`leaves ${share} with fewer than two members, more than ${max} %`)
}

const isRedundant = (pool: PoolOutline): boolean => pool.members.length > 1 && pool.isUsed

function losesMembers({ pools }: Change['before'], after: Change['after']): boolean {
  return [...pools].some(([name, own]) => {
    const now = after.pools.get(name)
    return now !== undefined && goneOf(own, now).length > 0
  })
}

function zoneTtl(change: Change, max: number): Found | undefined {
  for (const [zone, { ttlSeconds: was }, { ttlSeconds: now }] of zonesIn(change)) {
    if (now <= zoneTtlFreeSeconds || !isJump(was, now, max)) continue
    const what = `makes the TTL of the NS or SOA records of zone ${zone}`
    return ofMany(`${what} more than ${max} times as long (from ${was} s to ${now} s)`)
  }
  return undefined
}

function ttlJump(change: Change, max: number): Found | undefined {
  if (!isOwn(change, isLonger)) return undefined
  const longer: string[] = []
  for (const [name, was, now] of namesIn(change)) {
    if (!isLonger(was, now)) continue
    const ttl = was.ttlSeconds === 0 ? (change.part?.otherTtl(name) ?? 0) : was.ttlSeconds
    if (isJump(ttl, now.ttlSeconds, max))
      longer.push(`${name} from ${ttl} s to ${now.ttlSeconds} s`)
  }
  if (longer.length < 2) return undefined
  const times = `more than ${max} times as long`
  return ofMany(`makes the TTLs of ${longer.length} names ${times} (${listed(longer)})`)
}

const isLonger = ({ ttlSeconds: was }: NameFacts, { ttlSeconds: now }: NameFacts): boolean =>
  now > ttlJumpFreeSeconds && now > was

function isJump(beforeSeconds: number, nowSeconds: number, times: number): boolean {
  return nowSeconds > ttlJumpFreeSeconds && nowSeconds > Math.max(1, beforeSeconds) * times
}

function changedNames(change: Change, max: number, tenant: TenantName): Found | undefined {
  const { size } = change.before.names
  const isChanged = (was: NameFacts, now: NameFacts): boolean => was.shape !== now.shape
  if (size <= changedNamesFree || max >= 100 || !isOwn(change, isChanged)) return undefined
  const namesMin = tenant === null ? (change.part?.totals.namesMin ?? 0) : 0
  // A request alone is not compared with everything before it.
  if (!areTooMany(size, namesMin, max)) return undefined
  const changed: string[] = []
  for (const [name, was, now] of namesIn(change)) {
    if (now.standing > 0 && isChanged(was, now)) changed.push(name)
  }
  if (changed.length <= changedNamesFree) return undefined
  const total = totalsOf(change, tenant).all
  if (!areTooMany(changed.length, total, max)) return undefined
  return ofMany(
    `changes ${changed.length} of ${total} names (${listed(changed)}), more than ${max} %`,
  )
}

function lostAnswers(change: Change, max: number): Found | undefined {
  const dark: string[] = []
  const owners = new Set<string>()
  for (const [name, was, now] of namesIn(change)) {
    const lost = lostBetween(was.answers, now.answers)
    if (lost === undefined) continue
    dark.push(lost === 'all' ? name : `${name}: ${lost}`)
    owners.add(was.tenant)
  }
  if (dark.length <= max) return undefined
  const count = `${dark.length} name${dark.length === 1 ? '' : 's'}`
  const words = `leaves ${count} without an answer that could be given before (${listed(dark)})`
  const [owner = null] = owners
  return { words, owner: owners.size === 1 ? owner : null }
}

function replacedServers(change: Change, max: number): Found | undefined {
  for (const [zone, { servers }, { servers: now }] of zonesIn(change)) {
    const gone = servers.filter((server) => !now.includes(server))
    const areAll = gone.length > 0 && gone.length === servers.length && max < 100
    if (!areAll && !areTooMany(gone.length, servers.length, max)) continue
    const whose = `${gone.length} of the ${servers.length} name servers of zone ${zone}`
    return ofMany(`replaces ${whose} (${listed(gone)})`)
  }
  return undefined
}

/** Zones that are declared on both sides. */
function* zonesIn({ before, after }: Change): Generator<[string, ZoneOutline, ZoneOutline]> {
  for (const [name, was] of before.zones) {
    const now = after.zones.get(name)
    if (now !== undefined) yield [name, was, now]
  }
}
