// Computes how a change alters names and pools, from the objects that it touches alone.
import { outlineName, presenceOf } from '#compiler/lower/name-outline.ts'
import type { NameFacts } from '#compiler/lower/name-outline.ts'
import { Presence, withRecords, withService } from '#compiler/lower/name-standing.ts'
import type { Standing } from '#compiler/lower/name-standing.ts'
import { countedMembers, recordShape, serviceShape } from '#compiler/lower/change-outline.ts'
import type { PoolOutline } from '#compiler/lower/change-outline.ts'
import { readRecords } from '#compiler/values/record-sets.ts'
import type { ConfigEntry } from '#config/entry.ts'
import { isSame } from '#judge/guard/change.ts'
import type { Kind } from '#schemas/kinds.ts'

/** A state before and after; undefined: it did not exist then. */
export interface Pair<T> {
  readonly was: T | undefined
  readonly now: T | undefined
}

export type TouchedPool = Omit<PoolOutline, 'isUsed'>

/**
 * How a change alters names and pools. Shapes and TTLs are those of the touched objects at a name:
 * the name itself differs by the same. A TTL of 0 means none, in seconds.
 */
export interface Touched {
  /** Names that differ, each before and after. */
  readonly names: ReadonlyMap<string, Pair<NameFacts>>
  readonly pools: ReadonlyMap<string, Pair<TouchedPool>>
}

export const isTouchable = (kind: Kind): boolean =>
  kind === 'Service' || kind === 'Records' || kind === 'Pool'

/**
 * @param before touched objects as they were
 *
 * @param now touched objects as they are
 * @param ledger before the change
 */
export function touchedBetween(
  before: Iterable<ConfigEntry>,
  now: Iterable<ConfigEntry>,
  ledger: { readonly standingOf: (name: string) => Standing },
): Touched {
  const names = new Map<string, Record<'was' | 'now', Writable<NameFacts>>>()
  const pools = new Map<string, Pair<TouchedPool>>()
  const take = (entry: ConfigEntry, side: 'was' | 'now'): void => {
    const { tenant } = entry
    if (isPool(entry)) {
      const pool = { members: countedMembers(entry.object.spec), tenant }
      const known = pools.get(entry.name) ?? { was: undefined, now: undefined }
      pools.set(entry.name, { ...known, [side]: pool })
      return
    }
    for (const { name, type, shape, ttlSeconds } of answeredBy(entry)) {
      let pair = names.get(name)
      if (pair === undefined) {
        const facts = {
          standing: ledger.standingOf(name),
          shape: 0,
          ttlSeconds: 0,
          answers: 0,
          tenant,
        }
        names.set(name, (pair = { was: facts, now: { ...facts } }))
      }
      const facts = pair[side]
      facts.shape = (facts.shape + shape) | 0
      facts.ttlSeconds = Math.max(facts.ttlSeconds, ttlSeconds)
      const presence = side === 'was' ? Presence.Absent : presenceIn(entry)
      const { standing } = pair.now
      if (type !== null) pair.now.standing = withRecords(standing, type, side === 'was' ? -1 : 1)
      else {
        pair.now.standing = withService(standing, presence)
        facts.tenant = tenant
        if (side === 'was') pair.now.tenant = tenant
      }
    }
  }
  for (const entry of before) take(entry, 'was')
  for (const entry of now) take(entry, 'now')
  for (const [name, pair] of names) if (isSame(pair.was, pair.now)) names.delete(name)
  return { names, pools }
}

type Writable<T> = { -readonly [K in keyof T]: T[K] }

const isPool = (entry: ConfigEntry): entry is ConfigEntry<'Pool'> => entry.kind === 'Pool'

function presenceIn(entry: ConfigEntry): Presence {
  return presenceOf((entry as ConfigEntry<'Service'>).object.spec)
}

interface Answered {
  readonly name: string
  /** Type of the records; null: a service. */
  readonly type: number | null
  readonly shape: number
  readonly ttlSeconds: number
}

/** The names that a service or a file of records answers. */
export function* answeredBy(entry: ConfigEntry): Generator<Answered> {
  if (entry.kind === 'Service') {
    const { spec } = (entry as ConfigEntry<'Service'>).object
    const name = outlineName(spec.domain)
    const ttlSeconds = spec.ttl
    if (name !== undefined) yield { name, type: null, shape: serviceShape(spec), ttlSeconds }
  } else if (entry.kind === 'Records') {
    const { rrsets } = readRecords((entry as ConfigEntry<'Records'>).object.spec)
    for (const { name, type, ttlSeconds, rdata } of rrsets) {
      const shape = recordShape(type.code, ttlSeconds, rdata)
      yield { name, type: type.code, shape, ttlSeconds }
    }
  }
}

/** Joins two changes of a name; undefined: the second undoes the first. */
export function joinedName(
  known: Pair<NameFacts>,
  own: Pair<NameFacts>,
): Pair<NameFacts> | undefined {
  const [first, middle, start, end] = [known.was!, known.now!, own.was!, own.now!]
  // A TTL longer than that of everything touched before existed from the start.
  const isOlder = start.ttlSeconds > middle.ttlSeconds
  const ttlSeconds = isOlder ? Math.max(first.ttlSeconds, start.ttlSeconds) : first.ttlSeconds
  const was = { ...first, ttlSeconds }
  const now = { ...end, shape: (middle.shape + end.shape - start.shape) | 0 }
  return isSame(was, now) ? undefined : { was, now }
}

/** Nothing was removed from the name so far; its time begins with this change. */
export function takesAnew(known: Pair<NameFacts>, own: Pair<NameFacts>): boolean {
  return isOfStanding(own) && !isOfStanding(known)
}

/** A later change that keeps what the name holds does not make up for what was removed before. */
export function settledName(
  known: Pair<NameFacts>,
  own: Pair<NameFacts>,
): Pair<NameFacts> | undefined {
  if (isOfStanding(own) || !isOfStanding(known)) return undefined
  return { was: { ...own.now!, standing: known.was!.standing }, now: own.now }
}

const isOfStanding = ({ was, now }: Pair<NameFacts>): boolean => was!.standing !== now!.standing

export function joinedPool(
  { was }: Pair<TouchedPool>,
  { now }: Pair<TouchedPool>,
): Pair<TouchedPool> | undefined {
  const isBack = was !== undefined && was.members.join(' ') === now?.members.join(' ')
  return isBack || (was === undefined && now === undefined) ? undefined : { was, now }
}
