// Measures a request, together with those of the last minutes, against the limits of a commit: of
// the whole, and of each tenant.
import { lostBetween } from '#compiler/lower/answers.ts'
import { changeLimitsOf, countedMembers } from '#compiler/lower/change-outline.ts'
import type { ChangeLimits, PoolOutline } from '#compiler/lower/change-outline.ts'
import { isLostBy, measures, perMeasure } from '#compiler/lower/name-standing.ts'
import type { Standing } from '#compiler/lower/name-standing.ts'
import type { ConfigEntry } from '#config/entry.ts'
import type { Draft } from '#config/draft.ts'
import type { GuardrailName } from '#config/operation.ts'
import { limitsOfTenant } from '#judge/guard/breach.ts'
import { beyondLimit, isRedundant } from '#judge/guard/change-limits.ts'
import type { ChangeLimit, ChangeTally, PoolChange } from '#judge/guard/change-limits.ts'
import { countsOf, lossesOf, removalOf, tooMany, wordsOf } from '#judge/guard/removal.ts'
import { changedNamesFree, otherTenants, ttlJumpFreeSeconds } from '#schemas/objects/guardrails.ts'
import type { Guardrails, TenantGuardrails } from '#schemas/objects/guardrails.ts'
import type { AnswerChange, zoneChanges } from './lost-answers.ts'
import type { NameChanges, NameLedger } from './name-ledger.ts'
import type { RecentChanges } from './recent-changes.ts'
import type { RecentNames } from './recent-names.ts'
import { answeredBy } from './touched.ts'
import type { Touched, TouchedName, TouchedPool } from './touched.ts'

export interface Judged {
  /** As the request leaves it. */
  readonly draft: Draft
  readonly guardrails: Guardrails | undefined
  /** What the request alters. */
  readonly changes: NameChanges
  readonly touched: Touched
  /** What it takes from names, and alters of zones. */
  readonly answers: readonly AnswerChange[]
  readonly zones: ReturnType<typeof zoneChanges>
  /** As before the request. */
  readonly names: NameLedger
  readonly recent: RecentNames
  readonly recentChanges: RecentChanges
}

export interface ChangeBreach {
  readonly guardrail: GuardrailName
  /** The end of "This would …", without the limit's number. */
  readonly words: string
  /** Whose limit it is; '': of the whole. */
  readonly tenant: string
  /** The tenant of all that the words name or count; null: there are several. */
  readonly owner: string | null
}

/** undefined: so much may change. */
export function changeBreach(judged: Judged): ChangeBreach | undefined {
  const { guardrails, touched } = judged
  const whole = beyond(judged, changeLimitsOf(guardrails), undefined)
  if (whole !== undefined || guardrails?.tenants === undefined) return whole
  const all = [...touched.names.values(), ...touched.pools.values(), ...judged.answers]
  const own = all.map(({ tenant }) => tenant)
  for (const tenant of new Set(own)) {
    const limits = guardrails.tenants[tenant] ?? guardrails.tenants[otherTenants]
    if (limits === undefined) continue
    const breach =
      namesBeyond(judged, limits, tenant) ?? beyond(judged, limitsOfTenant(limits), tenant)
    if (breach !== undefined) return breach
  }
  return undefined
}

/** @param tenant undefined: all */
function beyond(
  judged: Judged,
  limits: ChangeLimits,
  tenant: string | undefined,
): ChangeBreach | undefined {
  const found = beyondLimit(tallyOf(judged, limits, tenant), limits)
  if (found === undefined) return undefined
  const owner = tenant ?? ownerOf[found.limit]?.(judged) ?? null
  return { guardrail: found.limit, words: inInfinitive(found.words), tenant: tenant ?? '', owner }
}

/** By limits of the whole. The words of the others count what all tenants have, or did lately. */
const ownerOf: { readonly [Name in ChangeLimit]?: (judged: Judged) => string | null } = {
  removedMembers: ({ touched }) => onlyTenant([...touched.pools.values()].filter(losesMembers)),
  lostAnswers: ({ answers }) =>
    onlyTenant(answers.filter(({ before, now }) => lostBetween(before, now) !== undefined)),
}

function onlyTenant(all: readonly { readonly tenant: string }[]): string | null {
  const tenants = new Set(all.map(({ tenant }) => tenant))
  const [first = null] = tenants
  return tenants.size === 1 ? first : null
}

/** `takes away 3 …` as after "This would". */
const inInfinitive = (words: string): string => words.replace(/^(\w+)s /, '$1 ')

/**
 * What the request does nothing of is not looked for: it is never refused for what others did.
 */
function tallyOf(judged: Judged, limits: ChangeLimits, tenant: string | undefined): ChangeTally {
  const { recentChanges, touched, draft } = judged
  const isOwn = (one: { readonly tenant: string }): boolean =>
    tenant === undefined || one.tenant === tenant
  const pools = [...touched.pools].filter(([, one]) => isOwn(one) && losesMembers(one))
  const names = [...touched.names].filter(([, one]) => isOwn(one))
  const all =
    pools.length === 0 ? [] : [...recentChanges.pools(touched)].filter(([, p]) => isOwn(p))
  const raised = names.some(([, one]) => isLonger(one))
  const isChanging = names.some(([, { shape }]) => shape !== 0) && mayBeMany(judged, limits, tenant)
  const since =
    raised || isChanging ? [...recentChanges.names(touched)].filter(([, one]) => isOwn(one)) : []
  const there = since.filter(([name]) => standingBefore(judged, name) > 0)
  const own = new Map(pools)
  return {
    pools: all.flatMap(([name, pool]) => poolChange(draft, name, pool)),
    ownPools: all.flatMap(([name, pool]) => (own.has(name) ? poolChange(draft, name, pool) : [])),
    ttls: raised ? there.flatMap((one) => ttlChange(draft, one)) : [],
    changedNames: isChanging
      ? there
          .filter(([name, { shape }]) => shape !== 0 && standingNow(judged, name) > 0)
          .map(([name]) => name)
      : [],
    answers: judged.answers.filter(isOwn).map((one) => [one.name, one.before, one.now]),
    zones: tenant === undefined ? judged.zones : [],
    totals: {
      names: () => namesBefore(judged, tenant).size,
      redundantPools: () => redundantBefore(judged, isOwn),
    },
  }
}

const losesMembers = ({ before, now }: TouchedPool): boolean =>
  before !== null && now !== null && before.some((member) => !now.includes(member))

const isLonger = ({ ttlBefore, ttlNow }: TouchedName): boolean =>
  ttlNow > ttlJumpFreeSeconds && ttlNow > ttlBefore

/** From what is counted anyway, so that a write does not look at all that came before it. */
function mayBeMany(
  { recentChanges, recent, names, touched }: Judged,
  { changedNames }: ChangeLimits,
  tenant: string | undefined,
): boolean {
  const changed = recentChanges.namesCount + touched.names.size
  if (changed <= changedNamesFree || changedNames >= 100) return false
  if (tenant !== undefined) return true
  return changed * 100 > Math.max(0, names.counts.all - recent.size) * changedNames
}

function poolChange(draft: Draft, name: string, pool: TouchedPool): readonly PoolChange[] {
  const { before, now, tenant } = pool
  if (before === null) return []
  const outline = (members: readonly string[]): PoolOutline => {
    return { members, tenant, isUsed: isAsked(draft, name) }
  }
  // Whether services ask the pool matters only where it is left with too few members.
  const isLeft = now !== null && before.length > 1 && now.length < 2
  const asIs = (members: readonly string[]): PoolOutline => ({ members, tenant, isUsed: false })
  const of = isLeft ? outline : asIs
  return [{ name, before: of(before), now: now === null ? undefined : of(now) }]
}

function isAsked(draft: Draft, name: string): boolean {
  return draft.servicesOf(name).some(({ object }) => object.spec.pool === name)
}

/** What is new at a name that has something else is compared with that. */
function ttlChange(
  draft: Draft,
  [name, { ttlBefore, ttlNow }]: readonly [string, TouchedName],
): readonly (readonly [string, number, number])[] {
  if (ttlNow <= ttlJumpFreeSeconds || ttlNow <= ttlBefore) return []
  const before = ttlBefore === 0 ? (ttlsAt(draft, name)[1] ?? 0) : ttlBefore
  return [[name, before, ttlNow]]
}

/** The longest first. */
function ttlsAt(draft: Draft, name: string): readonly number[] {
  const ttls: number[] = []
  for (const entry of namingEntries(draft)) {
    for (const one of answeredBy(entry)) if (one.name === name) ttls.push(one.ttl)
  }
  return ttls.sort((a, b) => b - a)
}

function namingEntries(draft: Draft): readonly ConfigEntry[] {
  return [...draft.entries('Records'), ...draft.entries('Service')]
}

/** As it was before the first request of the last minutes. */
function standingBefore({ recent, changes, names }: Judged, name: string): Standing {
  return recent.beforeOf(name) ?? changes.get(name)?.before ?? names.standingOf(name)
}

function standingNow({ changes, names }: Judged, name: string): Standing {
  return changes.get(name)?.now ?? names.standingOf(name)
}

/** Names of a tenant, or of all, that were there before the first request of the last minutes. */
function namesBefore(judged: Judged, tenant: string | undefined): ReadonlyMap<string, Standing> {
  const found = new Map<string, Standing>()
  const add = (name: string): void => {
    const standing = standingBefore(judged, name)
    if (standing > 0) found.set(name, standing)
  }
  const { draft, recentChanges, touched } = judged
  const owners = new Map<string, string>()
  for (const [name, one] of recentChanges.names(touched)) owners.set(name, one.tenant)
  for (const entry of namingEntries(draft)) {
    for (const { name } of answeredBy(entry)) {
      if (entry.kind === 'Service' || !owners.has(name)) owners.set(name, entry.tenant)
    }
  }
  for (const [name, owner] of owners) if (tenant === undefined || owner === tenant) add(name)
  return found
}

function redundantBefore(
  { draft, recentChanges, touched }: Judged,
  isOwn: (one: { readonly tenant: string }) => boolean,
): number {
  const since = new Map(recentChanges.pools(touched))
  let count = 0
  for (const { name, tenant, object } of draft.entries('Pool')) {
    const known = since.get(name)
    const members = known === undefined ? countedMembers(object.spec) : (known.before ?? [])
    if (!isOwn({ tenant }) || members.length < 2) continue
    count += Number(isRedundant({ members, tenant, isUsed: isAsked(draft, name) }))
  }
  return count
}

/** The names that go, counted in one tenant alone. */
function namesBeyond(
  judged: Judged,
  { removedNames }: TenantGuardrails,
  tenant: string,
): ChangeBreach | undefined {
  const { changes, recent, recentChanges, touched } = judged
  const isLoss = [...changes.values()].some(({ before, now }) => isLess(before, now))
  if (removedNames === undefined || !isLoss) return undefined
  const owners = new Map(recentChanges.names(touched))
  const gone = [...recent.changesWith(changes)].filter(
    ([name]) => owners.get(name)?.tenant === tenant,
  )
  const lost = lossesOf(gone.map(([name, { before, now }]) => [name, before, now]))
  if (lost.all.length < 2 && lost.balanced.length < 2 && lost.records.length < 2) return undefined
  const counts = countsOf(namesBefore(judged, tenant))
  const tallies = perMeasure((measure) => ({ names: lost[measure], total: counts[measure] }))
  const measure = tooMany(tallies, removedNames)
  if (measure === undefined) return undefined
  const words = `remove ${wordsOf(removalOf(tallies, measure, []))}, more than ${removedNames} %`
  return { guardrail: 'removedNames', words, tenant, owner: tenant }
}

const isLess = (before: Standing, now: Standing): boolean =>
  measures.some((measure) => isLostBy(measure, before, now))
