// The table of limits on what one change alters: what each measures, and how it says so.
import { lostBetween } from '#compiler/lower/answers.ts'
import type { Answers } from '#compiler/lower/answers.ts'
import type {
  ChangeLimits,
  ChangeOutline,
  PoolOutline,
  ZoneOutline,
} from '#compiler/lower/change-outline.ts'
import {
  changedNamesFree,
  ttlJumpFreeSeconds,
  zoneTtlFreeSeconds,
} from '#schemas/objects/guardrails.ts'
import { areTooMany, listed } from './removal.ts'

/** A change as the limits measure it, be it a commit or the requests of some minutes. */
export interface ChangeTally {
  readonly pools: Iterable<PoolChange>
  /** Pools that are judged one by one. */
  readonly ownPools: Iterable<PoolChange>
  /** In seconds, of names that were there before; 0: the name has none any more. */
  readonly ttls: Iterable<readonly [name: string, before: number, now: number]>
  /** Names that were there, are there still, and are answered otherwise. */
  readonly changedNames: Iterable<string>
  /** Names that were there before and are there still. */
  readonly answers: Iterable<readonly [name: string, before: Answers, now: Answers]>
  /** Zones that were declared before and are so still. */
  readonly zones: Iterable<readonly [name: string, before: ZoneOutline, now: ZoneOutline]>
  /** Before the change. Asked for only where more than one is lost or changed. */
  readonly totals: {
    readonly names: () => number
    /** Pools with two members or more that services ask. */
    readonly redundantPools: () => number
  }
}

/** A change to a pool that was there before; without `now` it is gone. */
export interface PoolChange {
  readonly name: string
  readonly before: PoolOutline
  readonly now: PoolOutline | undefined
}

export type ChangeLimit = keyof ChangeLimits

type Measure = (tally: ChangeTally, max: number) => string | undefined

/** Each: undefined, so much may change; else what it does, as the end of "Commit c0ffee …". */
const table: { readonly [Name in ChangeLimit]: Measure } = {
  removedMembers: ({ ownPools }, max) => {
    for (const { name, before, now } of ownPools) {
      // Where the whole pool goes, other limits measure what its names lose.
      if (now === undefined) continue
      const left = new Set(now.members)
      const gone = before.members.filter((member) => !left.has(member))
      // What takes their place is no loss.
      const lost = Math.min(gone.length, before.members.length - now.members.length)
      if (!areTooMany(lost, before.members.length, max)) continue
      const whose = `of the ${before.members.length} members of pool "${name}"`
      return `takes away ${lost} ${whose} (${listed(gone)}), more than ${max} %`
    }
    return undefined
  },
  lostRedundancy: ({ pools, totals }, max) => {
    const lost = [...pools].filter(losesRedundancy).map(({ name }) => name)
    if (lost.length < 2) return undefined
    const total = totals.redundantPools()
    if (!areTooMany(lost.length, total, max)) return undefined
    const share = `${lost.length} of ${total} pools (${listed(lost)})`
    return `leaves ${share} with fewer than two members, more than ${max} %`
  },
  ttlJump: ({ ttls, zones }, max) => {
    for (const [zone, { ttlSeconds: was }, { ttlSeconds: now }] of zones) {
      if (now <= zoneTtlFreeSeconds || !isJump(was, now, max)) continue
      const what = `makes the TTL of the NS or SOA records of zone ${zone}`
      return `${what} more than ${max} times as long (from ${was} s to ${now} s)`
    }
    const longer = [...ttls].filter(([, ttl, now]) => isJump(ttl, now, max))
    if (longer.length < 2) return undefined
    const shown = longer.map(([name, ttl, now]) => `${name} from ${ttl} s to ${now} s`)
    const times = `more than ${max} times as long`
    return `makes the TTLs of ${longer.length} names ${times} (${listed(shown)})`
  },
  changedNames: ({ changedNames, totals }, max) => {
    const changed = [...changedNames]
    if (changed.length <= changedNamesFree) return undefined
    const total = totals.names()
    if (!areTooMany(changed.length, total, max)) return undefined
    return `changes ${changed.length} of ${total} names (${listed(changed)}), more than ${max} %`
  },
  lostAnswers: ({ answers }, max) => {
    const dark: string[] = []
    for (const [name, before, now] of answers) {
      const lost = lostBetween(before, now)
      if (lost !== undefined) dark.push(lost === 'all' ? name : `${name}: ${lost}`)
    }
    if (dark.length <= max) return undefined
    const count = `${dark.length} name${dark.length === 1 ? '' : 's'}`
    return `leaves ${count} without an answer that could be given before (${listed(dark)})`
  },
  replacedServers: ({ zones }, max) => {
    for (const [zone, { servers }, { servers: now }] of zones) {
      const gone = servers.filter((server) => !now.includes(server))
      const areAll = gone.length > 0 && gone.length === servers.length && max < 100
      if (!areAll && !areTooMany(gone.length, servers.length, max)) continue
      const whose = `${gone.length} of the ${servers.length} name servers of zone ${zone}`
      return `replaces ${whose} (${listed(gone)})`
    }
    return undefined
  },
}

export const isRedundant = ({ isUsed, members }: PoolOutline): boolean =>
  isUsed && members.length > 1

export function losesRedundancy({ before, now }: PoolChange): boolean {
  return now !== undefined && isRedundant(before) && now.members.length < 2
}

export function isJump(beforeSeconds: number, nowSeconds: number, times: number): boolean {
  return nowSeconds > ttlJumpFreeSeconds && nowSeconds > Math.max(1, beforeSeconds) * times
}

/** The first limit that a change is beyond, in words; undefined: none. */
export function beyondLimit(
  tally: ChangeTally,
  limits: ChangeLimits,
): { readonly limit: ChangeLimit; readonly words: string } | undefined {
  for (const [name, measure] of Object.entries(table)) {
    const limit = name as ChangeLimit
    const words = measure(tally, limits[limit])
    if (words !== undefined) return { limit, words }
  }
  return undefined
}

export function tallyBetween(before: ChangeOutline, after: ChangeOutline): ChangeTally {
  return {
    get pools() {
      return poolsBetween(before, after)
    },
    get ownPools() {
      return poolsBetween(before, after)
    },
    get ttls() {
      return ttlsBetween(before, after)
    },
    get changedNames() {
      return changedBetween(before, after)
    },
    get answers() {
      return bothOf(before.answers, after.answers)
    },
    get zones() {
      return bothOf(before.zones, after.zones)
    },
    totals: {
      names: () => before.shapes.size,
      redundantPools: () => [...before.pools.values()].filter(isRedundant).length,
    },
  }
}

function* poolsBetween(before: ChangeOutline, after: ChangeOutline): Generator<PoolChange> {
  for (const [name, pool] of before.pools) {
    yield { name, before: pool, now: after.pools.get(name) }
  }
}

function* ttlsBetween(
  before: ChangeOutline,
  after: ChangeOutline,
): Generator<readonly [string, number, number]> {
  for (const [name, ttl] of before.ttls) yield [name, ttl, after.ttls.get(name) ?? 0]
}

function* changedBetween(before: ChangeOutline, after: ChangeOutline): Generator<string> {
  for (const [name, shape] of before.shapes) {
    const now = after.shapes.get(name)
    if (now !== undefined && now !== shape) yield name
  }
}

function* bothOf<T>(
  before: ReadonlyMap<string, T>,
  after: ReadonlyMap<string, T>,
): Generator<readonly [string, T, T]> {
  for (const [name, was] of before) {
    const now = after.get(name)
    if (now !== undefined) yield [name, was, now]
  }
}
