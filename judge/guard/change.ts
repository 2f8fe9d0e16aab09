// A change as the limits measure it: two outlines, and what one request has to do with it.
import { noFacts } from '#compiler/lower/name-outline.ts'
import type { Facts, NameFacts, Outline } from '#compiler/lower/name-outline.ts'
import type { PerMeasure } from '#compiler/lower/name-standing.ts'

export interface Change {
  /** What answered; for a request, ten minutes ago. */
  readonly before: Outline
  readonly after: Outline
  /** Left out: both outlines list all that there is. */
  readonly part?: ChangePart
}

/** The outlines list what was altered lately, and nothing else. */
export interface ChangePart {
  /** Right before the request: it is not refused for what others did. */
  readonly own: Outline
  /** What there is in `before`, in sum. Asked for only near a limit. */
  readonly totals: {
    /** Names, at least. */
    readonly namesMin: number
    readonly names: (tenant: string | null) => PerMeasure<number>
    readonly redundantPools: (tenant: string | null) => number
  }
  /** Seconds: the longest TTL of what else stands at a name. */
  readonly otherTtl: (name: string) => number
}

/** null: a change of all tenants. */
export type TenantName = string | null

/** Each name that was there, with what is there now. */
export function* namesIn({ before, after }: Change): Generator<[string, NameFacts, NameFacts]> {
  for (const [name, was] of before.names) {
    if (was.standing > 0) yield [name, was, after.names.get(name) ?? noFacts]
  }
}

/** Whether a request does so itself, at any name. A commit is all of its change. */
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

/** As if there were nobody else. */
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
    // At most.
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

/** Tenants that a change takes something from, or alters something of. */
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
