// Defines a change as the limits measure it: two outlines, and the part that one request has in it.
import { noFacts } from '#compiler/lower/name-outline.ts'
import type { Facts, NameFacts, Outline } from '#compiler/lower/name-outline.ts'
import type { PerMeasure } from '#compiler/lower/name-standing.ts'

export interface Change {
  /** Outline of the answers before; for a request: ten minutes ago. */
  readonly before: Outline
  readonly after: Outline
  /** For outlines that list only a part; left out: both outlines are complete. */
  readonly part?: ChangePart
}

/** For outlines that list only what was altered within ten minutes. */
export interface ChangePart {
  /** The outline right before the request, which is not refused for changes of others. */
  readonly own: Outline
  /** Totals of `before`. They are asked for only near a limit. */
  readonly totals: {
    /** A lower bound of the number of names. */
    readonly namesMin: number
    readonly names: (tenant: string | null) => PerMeasure<number>
    readonly redundantPools: (tenant: string | null) => number
  }
  /** The longest TTL, in seconds, of what else the name holds. */
  readonly otherTtl: (name: string) => number
}

/** The tenant whose names count; null: a change of all tenants. */
export type TenantName = string | null

/** Each name that was there before, and what it holds now. */
export function* namesIn({ before, after }: Change): Generator<[string, NameFacts, NameFacts]> {
  for (const [name, was] of before.names) {
    if (was.standing > 0) yield [name, was, after.names.get(name) ?? noFacts]
  }
}

/** Whether the request itself changes a name this way. A commit is all of its change. */
export function isOwn(
  { part, after }: Change,
  isWorse: (was: NameFacts, now: NameFacts) => boolean,
): boolean {
  if (part === undefined) return true
  for (const [name, was] of part.own.names) {
    if (isWorse(was, after.names.get(name) ?? noFacts)) return true
  }
  return false
}

/** The part of the change in names and pools of one tenant. */
export function ofTenant({ before, after, part }: Change, tenant: string): Change {
  const ofOutline = ({ names, pools }: Outline): Outline => ({
    names: ownedBy(names, tenant),
    pools: ownedBy(pools, tenant),
    zones: new Map(),
  })
  return {
    before: ofOutline(before),
    after: ofOutline(after),
    ...(part === undefined ? {} : { part: { ...part, own: ofOutline(part.own) } }),
  }
}

function ownedBy<T extends { readonly tenant: string }>(all: Facts<T>, tenant: string): Facts<T> {
  return {
    // An upper bound.
    size: all.size,
    get: (name) => {
      const found = all.get(name)
      return found?.tenant === tenant ? found : undefined
    },
    *[Symbol.iterator]() {
      for (const each of all) if (each[1].tenant === tenant) yield each
    },
  }
}

/** Tenants from which the change removes something, or whose objects it alters. */
export function tenantsIn({ before, after, part }: Change): ReadonlySet<string> {
  const found = new Set<string>()
  const { names, pools } = part?.own ?? before
  for (const [name, was] of names) {
    if (!isSame(was, after.names.get(name) ?? noFacts)) found.add(was.tenant)
  }
  for (const [name, { members, tenant }] of pools) {
    const now = after.pools.get(name)?.members
    if (members.some((member, i) => member !== now?.[i])) found.add(tenant)
  }
  return found
}

export function isSame(was: NameFacts, now: NameFacts): boolean {
  return (
    was.standing === now.standing &&
    was.shape === now.shape &&
    was.ttlSeconds === now.ttlSeconds &&
    was.answers === now.answers &&
    was.tenant === now.tenant
  )
}
