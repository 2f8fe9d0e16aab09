// Judges a change by the guardrails: the one judge of commits, pushes, requests and `check --base`.
import { isDeepStrictEqual } from 'node:util'
import type { Facts, NameFacts, NameOutline, Outline } from '#compiler/lower/name-outline.ts'
import {
  changeLimitDefaults,
  otherTenants,
  removedNamesDefault,
} from '#schemas/objects/guardrails.ts'
import type { Guardrails } from '#schemas/objects/guardrails.ts'
import { brokenChain } from './chain-of-trust.ts'
import { ofTenant, tenantsIn } from './change.ts'
import type { Change, TenantName } from './change.ts'
import { limitRows } from './change-limits.ts'
import type { Found, LimitName, Limits, Scope } from './change-limits.ts'
import { limitsMoves, movedBeyond, notBack } from './moved-limit.ts'

export interface Breach<Limit = LimitName | 'movedClients' | 'chainOfTrust'> extends Found {
  readonly code: 'NamesRemoved' | 'GuardrailReached'
  readonly limit: Limit
  readonly max: number
  /** The tenant whose limit it is; null: the limit of the whole. */
  readonly tenant: TenantName
}

/**
 * Finds the first limit that a change exceeds; undefined: it exceeds none.
 *
 * @param scope of a request; left out: all limits count
 */
export function judge(
  change: Change,
  guardrails: Guardrails | undefined,
  scope?: Scope,
  rows = limitRows,
): Breach<LimitName> | undefined {
  const { tenants = {} } = guardrails ?? {}
  const whole = { removedNames: removedNamesDefault, ...changeLimitDefaults, ...guardrails }
  const breach = beyond(rows, change, whole, null, scope)
  if (breach !== undefined || Object.keys(tenants).length === 0) return breach
  // A change within the limits of the whole may still take most of what one tenant has.
  for (const tenant of tenantsIn(change)) {
    const limits = Object.hasOwn(tenants, tenant) ? tenants[tenant] : tenants[otherTenants]
    const own = limits && beyond(rows, ofTenant(change, tenant), limits, tenant, scope)
    if (own !== undefined) return own
  }
  return undefined
}

function beyond(
  rows: typeof limitRows,
  change: Change,
  limits: Limits,
  tenant: TenantName,
  scope: Scope | undefined,
): Breach<LimitName> | undefined {
  for (const { limit, scopes, find } of rows) {
    const max = limits[limit]
    if (max === undefined || (scope !== undefined && !scopes.includes(scope))) continue
    // Judged together with ten minutes: alone, names that were added meanwhile would count.
    if (limit === 'removedNames' && tenant !== null && scope === 'alone') continue
    const found = find(change, max, tenant)
    if (found === undefined) continue
    const code = limit === 'removedNames' ? 'NamesRemoved' : 'GuardrailReached'
    return { code, limit, max, words: found.words, tenant, owner: tenant ?? found.owner }
  }
  return undefined
}

/**
 * Finds what a commit, a push or a directory does beyond the limits of the commit before.
 *
 * @param earlier what goes back to this state counts as unchanged, except names that are removed
 */
export function breachBetween(
  before: NameOutline,
  after: NameOutline,
  earlier?: NameOutline,
): Breach | undefined {
  const was = earlier === undefined ? before : withoutBack(before, after, earlier)
  const breach =
    judge({ before: was, after }, before.guardrails) ??
    breakIn(before, after) ??
    moveIn(before, after, earlier)
  if (breach === undefined || breach.tenant === null) return breach
  return { ...breach, words: `${breach.words}, of tenant "${breach.tenant}"` }
}

const removalRows = limitRows.filter(({ limit }) => limit === 'removedNames')

/** Removes more names than may, or breaks a chain of trust. A repair may not do so either. */
export function isNoRepair(before: NameOutline, after: NameOutline): boolean {
  const removal = judge({ before, after }, before.guardrails, undefined, removalRows)
  return (removal ?? breakIn(before, after)) !== undefined
}

function breakIn(before: NameOutline, after: NameOutline): Breach | undefined {
  const words = brokenChain(before, after)
  if (words === undefined) return undefined
  const limit = 'chainOfTrust'
  return { code: 'GuardrailReached', limit, max: 0, words, owner: null, tenant: null }
}

function moveIn(
  { moves, guardrails }: NameOutline,
  after: NameOutline,
  earlier: NameOutline | undefined,
): Breach | undefined {
  if (moves === undefined || after.moves === undefined) return undefined
  if (!limitsMoves(guardrails)) return undefined
  const { bundle } = after.moves
  const found = movedBeyond(guardrails, notBack(moves.to(bundle), earlier?.moves?.to(bundle)))
  if (found === undefined) return undefined
  const { words, owner, max } = found
  return { code: 'GuardrailReached', limit: 'movedClients', max, words, owner, tenant: null }
}

/** The state before, with everything that now equals the earlier state taken from there. */
function withoutBack(before: Outline, after: Outline, earlier: Outline): Outline {
  const names = new Map<string, NameFacts>()
  for (const [name, was] of before.names) {
    const [now, then] = [after.names.get(name), earlier.names.get(name)]
    if (now === undefined || then === undefined) names.set(name, was)
    else {
      const { shape, ttlSeconds, answers } = now
      names.set(name, {
        ...was,
        ...(shape === then.shape ? { shape } : {}),
        ...(ttlSeconds === then.ttlSeconds ? { ttlSeconds } : {}),
        ...(answers === then.answers ? { answers } : {}),
      })
    }
  }
  // Whether a zone has names is known from the names, not from what a repair restores.
  const zones = unlessBack(
    before.zones,
    after.zones,
    earlier.zones,
    ({ hasNames: _, ...zone }) => zone,
  )
  return { names, zones, pools: unlessBack(before.pools, after.pools, earlier.pools) }
}

function unlessBack<T>(
  before: Facts<T>,
  after: Facts<T>,
  earlier: Facts<T>,
  partOf: (facts: T) => unknown = (facts) => facts,
): Facts<T> {
  const chosen = new Map<string, T>()
  for (const [name, was] of before) {
    const now = after.get(name)
    const then = earlier.get(name)
    const isBack =
      now !== undefined && then !== undefined && isDeepStrictEqual(partOf(now), partOf(then))
    chosen.set(name, isBack ? now : was)
  }
  return chosen
}
