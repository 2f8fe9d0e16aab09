// Outlines what a request alters, compared with right before it and with ten minutes ago.
import { countedMembers, zonesOf } from '#compiler/lower/change-outline.ts'
import type { PoolOutline, ZoneOutline } from '#compiler/lower/change-outline.ts'
import { noFacts } from '#compiler/lower/name-outline.ts'
import type { Facts, NameFacts, Outline } from '#compiler/lower/name-outline.ts'
import { perMeasure } from '#compiler/lower/name-standing.ts'
import type { PerMeasure } from '#compiler/lower/name-standing.ts'
import { enclosingZone, zonesDeclaredBy } from '#compiler/lower/zone-plan.ts'
import type { Draft } from '#config/draft.ts'
import type { ConfigEntry } from '#config/entry.ts'
import type { Change, ChangePart, TenantName } from '#judge/guard/change.ts'
import { addTo } from '#judge/guard/removal.ts'
import { answerChanges } from './lost-answers.ts'
import type { AnsweredBefore } from './lost-answers.ts'
import type { NameLedger } from './name-ledger.ts'
import type { RecentChanges } from './recent-changes.ts'
import { answeredBy } from './touched.ts'
import type { Pair, Touched, TouchedPool } from './touched.ts'

interface RequestParts {
  /** The draft after the request. */
  readonly draft: Draft
  readonly guarded: AnsweredBefore & { readonly settings: ConfigEntry<'Settings'> | undefined }
  readonly touched: Touched
  /** Names before the request. */
  readonly names: NameLedger
  readonly recent: RecentChanges
}

type Side = keyof Pair<unknown>
type Zones = ReadonlyMap<string, ZoneOutline>

export class RequestOutlines {
  readonly #parts: RequestParts

  constructor(parts: RequestParts) {
    this.#parts = parts
  }

  /** The request alone, with answers and zones, which are judged for each request. */
  alone(): Change {
    const { touched } = this.#parts
    const all = { ...touched, names: this.#withAnswers() }
    const [before, after] = this.#zones()
    const own = this.#outline(all, 'was', before)
    return {
      before: own,
      after: this.#outline(all, 'now', after),
      part: this.#part(own, all.names),
    }
  }

  together(): Change {
    const { touched, recent } = this.#parts
    const all = { names: recent.names.with(touched.names), pools: recent.pools.with(touched.pools) }
    const own = this.#outline(touched, 'was')
    const before = this.#outline(all, 'was')
    return { before, after: this.#outline(all, 'now'), part: this.#part(own, all.names) }
  }

  #outline(
    { names, pools }: { names: Facts<Pair<NameFacts>>; pools: Facts<Pair<TouchedPool>> },
    side: Side,
    zones: Zones = new Map(),
  ): Outline {
    const { draft } = this.#parts
    const outlined = ({ members, tenant }: TouchedPool, name: string): PoolOutline => ({
      ...{ members, tenant },
      // Computed on demand: only a pool that is left with too few members needs it.
      get isUsed() {
        return isAsked(draft, name)
      },
    })
    return {
      names: sideOf(names, side, (facts) => facts),
      pools: sideOf(pools, side, outlined),
      zones,
    }
  }

  /** Names that were added within the time do not count, as for removed names. */
  #withAnswers(): ReadonlyMap<string, Pair<NameFacts>> {
    const { draft, guarded, names, touched, recent } = this.#parts
    const all = new Map(touched.names)
    const since = recent.names.with(touched.names)
    for (const { name, tenant, was, now } of answerChanges(draft, guarded, names)) {
      if (since.get(name)?.was?.standing === 0) continue
      const facts = { ...noFacts, standing: names.standingOf(name), tenant }
      const own = all.get(name) ?? { was: facts, now: facts }
      // Removed names are counted by another limit.
      if (own.now!.standing === 0) continue
      all.set(name, { was: { ...own.was!, answers: was }, now: { ...own.now!, answers: now } })
    }
    return all
  }

  #zones(): readonly [before: Zones, after: Zones] {
    const { draft, guarded, names } = this.#parts
    const [now] = draft.entries('Settings')
    const was = guarded.settings
    if (was === undefined || was.object === now?.object) return [new Map(), new Map()]
    const after = zonesOf(now === undefined ? [] : zonesDeclaredBy(now.object), () => false)
    const declared = zonesDeclaredBy(was.object)
    const indexOf = new Map(declared.map(({ name }, i) => [name, i]))
    const filled = new Set<number | undefined>()
    const areGone = declared.some(({ name }) => !after.has(name))
    for (const name of areGone ? names.names() : []) filled.add(enclosingZone(name, indexOf))
    return [zonesOf(declared, (i) => filled.has(i)), after]
  }

  /** @param lately names that were altered since `before` */
  #part(own: Outline, lately: Facts<Pair<NameFacts>>): ChangePart {
    const { names } = this.#parts
    return {
      own,
      totals: {
        namesMin: names.counts.all - lately.size,
        names: (tenant) => this.#namesOf(tenant, lately),
        redundantPools: (tenant) => this.#redundantPools(tenant),
      },
      otherTtl: (name) => this.#ttlsAt(name)[1] ?? 0,
    }
  }

  /** Number of names in `before`, of one tenant or all. */
  #namesOf(tenant: TenantName, lately: Facts<Pair<NameFacts>>): PerMeasure<number> {
    const { draft, names } = this.#parts
    const isAll = tenant === null
    const counts = { ...(isAll ? names.counts : perMeasure(() => 0)) }
    for (const [name, { was }] of lately) {
      if (isAll) addTo(counts, names.standingOf(name), -1)
      if (isAll || was!.tenant === tenant) addTo(counts, was!.standing, 1)
    }
    if (isAll) return counts
    const owners = new Map<string, string>()
    for (const [name, , entry] of answersIn(draft)) {
      if (lately.get(name) !== undefined) continue
      if (entry.kind === 'Service' || !owners.has(name)) owners.set(name, entry.tenant)
    }
    for (const [name, owner] of owners) {
      if (owner === tenant) addTo(counts, names.standingOf(name), 1)
    }
    return counts
  }

  #redundantPools(tenant: TenantName): number {
    const { draft, recent, touched } = this.#parts
    const since = recent.pools.with(touched.pools)
    const redundant = draft.entries('Pool').filter((entry) => {
      if (tenant !== null && entry.tenant !== tenant) return false
      const known = since.get(entry.name)
      const members = known === undefined ? countedMembers(entry.object.spec) : known.was?.members
      return members !== undefined && members.length > 1 && isAsked(draft, entry.name)
    })
    return redundant.length
  }

  /** TTLs at a name, the longest first. */
  #ttlsAt(name: string): readonly number[] {
    const ttls: number[] = []
    for (const [own, ttl] of answersIn(this.#parts.draft)) if (own === name) ttls.push(ttl)
    return ttls.sort((a, b) => b - a)
  }
}

function* answersIn(draft: Draft): Generator<[name: string, ttlSeconds: number, ConfigEntry]> {
  for (const entry of [...draft.entries('Records'), ...draft.entries('Service')]) {
    for (const { name, ttlSeconds } of answeredBy(entry)) yield [name, ttlSeconds, entry]
  }
}

function isAsked(draft: Draft, name: string): boolean {
  return draft.servicesOf(name).some(({ object }) => object.spec.pool === name)
}

/** @param as converts a fact for the outline */
function sideOf<T, U>(
  pairs: Facts<Pair<T>>,
  side: Side,
  as: (facts: T, name: string) => U,
): Facts<U> {
  return {
    size: pairs.size,
    get: (name) => {
      const facts = pairs.get(name)?.[side]
      return facts === undefined ? undefined : as(facts, name)
    },
    *[Symbol.iterator]() {
      for (const [name, { [side]: facts }] of pairs) {
        if (facts !== undefined) yield [name, as(facts, name)] as const
      }
    },
  }
}
