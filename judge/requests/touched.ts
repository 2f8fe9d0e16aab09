// What a change alters of names and pools, told from the objects that it touches alone.
import { outlineName } from '#compiler/lower/name-outline.ts'
import { countedMembers, recordShape, serviceShape } from '#compiler/lower/change-outline.ts'
import { readRecords } from '#compiler/values/record-sets.ts'
import type { ConfigEntry } from '#config/entry.ts'
import type { Kind } from '#schemas/kinds.ts'

export interface TouchedName {
  /** Tenant of its service, or else of its records. */
  readonly tenant: string
  /** What `ChangeOutline.shapes` has more for it; 0: it is answered as before. */
  readonly shape: number
  /** In seconds, the longest of what is touched; 0: it has none. */
  readonly ttlBefore: number
  readonly ttlNow: number
}

export interface TouchedPool {
  readonly tenant: string
  /** As `PoolOutline.members`; null: it was not there. */
  readonly before: readonly string[] | null
  readonly now: readonly string[] | null
}

export interface Touched {
  /** None that is as it was. */
  readonly names: ReadonlyMap<string, TouchedName>
  readonly pools: ReadonlyMap<string, TouchedPool>
}

export const isTouchable = (kind: Kind): boolean =>
  kind === 'Service' || kind === 'Records' || kind === 'Pool'

/** @param before what a change touches, as it was @param now as it is */
export function touchedBetween(before: Iterable<ConfigEntry>, now: Iterable<ConfigEntry>): Touched {
  const names = new Map<string, TouchedName>()
  const pools = new Map<string, TouchedPool>()
  for (const entry of before) {
    if (isPool(entry)) {
      const members = countedMembers(entry.object.spec)
      pools.set(entry.name, { tenant: entry.tenant, before: members, now: null })
    } else takeNames(names, entry, false)
  }
  for (const entry of now) {
    if (isPool(entry)) {
      const { tenant, name } = entry
      const members = countedMembers(entry.object.spec)
      pools.set(name, { tenant, before: pools.get(name)?.before ?? null, now: members })
    } else takeNames(names, entry, true)
  }
  for (const [name, { shape, ttlBefore, ttlNow }] of names) {
    if (shape === 0 && ttlBefore === ttlNow) names.delete(name)
  }
  return { names, pools }
}

const isPool = (entry: ConfigEntry): entry is ConfigEntry<'Pool'> => entry.kind === 'Pool'

function takeNames(names: Map<string, TouchedName>, entry: ConfigEntry, isNow: boolean): void {
  for (const { name, shape, ttl } of answeredBy(entry)) {
    const known = names.get(name)
    const { shape: sum = 0, ttlBefore = 0, ttlNow = 0 } = known ?? {}
    const isOwner = known === undefined || entry.kind === 'Service'
    names.set(name, {
      tenant: isOwner ? entry.tenant : known.tenant,
      shape: (isNow ? sum + shape : sum - shape) | 0,
      ttlBefore: isNow ? ttlBefore : Math.max(ttlBefore, ttl),
      ttlNow: isNow ? Math.max(ttlNow, ttl) : ttlNow,
    })
  }
}

interface Answered {
  readonly name: string
  readonly shape: number
  /** In seconds. */
  readonly ttl: number
}

/** What a service, or a file of records, gives to names. */
export function* answeredBy(entry: ConfigEntry): Generator<Answered> {
  if (entry.kind === 'Service') {
    const { spec } = (entry as ConfigEntry<'Service'>).object
    const name = outlineName(spec.domain)
    if (name !== undefined) yield { name, shape: serviceShape(spec), ttl: spec.ttl }
  } else if (entry.kind === 'Records') {
    const { rrsets } = readRecords((entry as ConfigEntry<'Records'>).object.spec)
    for (const { name, type, ttlSeconds, rdata } of rrsets) {
      yield { name, shape: recordShape(type.code, ttlSeconds, rdata), ttl: ttlSeconds }
    }
  }
}
