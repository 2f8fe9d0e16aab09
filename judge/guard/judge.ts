// Judges a change by the guardrails: the one judge of commits, pushes, requests and `check --base`.
import type { NameOutline } from '#compiler/lower/name-outline.ts'
import {
  changeLimitDefaults,
  otherTenants,
  removedNamesDefault,
} from '#schemas/objects/guardrails.ts'
import type { Guardrails } from '#schemas/objects/guardrails.ts'
import { ofTenant, tenantsIn } from './change.ts'
import type { Change, TenantName } from './change.ts'
import { limitRows } from './change-limits.ts'
import type { Found, LimitName, Limits, Scope } from './change-limits.ts'
import { movedBeyond } from './moved-limit.ts'

export interface Breach extends Found {
  readonly code: 'NamesRemoved' | 'GuardrailReached'
  readonly limit: LimitName | 'movedClients'
  readonly max: number
  /** Whose limit it is; null: of the whole. */
  readonly tenant: TenantName
}

/**
 * The first limit that a change is beyond; undefined: so much may change.
 *
 * @param scope of a request; left out: all limits count
 */
export function judge(
  change: Change,
  guardrails: Guardrails | undefined,
  scope?: Scope,
  rows = limitRows,
): Breach | undefined {
  const { tenants = {} } = guardrails ?? {}
  const whole = { removedNames: removedNamesDefault, ...changeLimitDefaults, ...guardrails }
  const breach = beyond(rows, change, whole, null, scope)
  if (breach !== undefined || Object.keys(tenants).length === 0) return breach
  // What the limits of the whole permit may be most of what one tenant has.
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
): Breach | undefined {
  for (const { limit, scopes, find } of rows) {
    const max = limits[limit]
    if (max === undefined || (scope !== undefined && !scopes.includes(scope))) continue
    // By tenant, names that came within the time are none: those are counted together.
    if (limit === 'removedNames' && tenant !== null && scope === 'alone') continue
    const found = find(change, max, tenant)
    if (found === undefined) continue
    const code = limit === 'removedNames' ? 'NamesRemoved' : 'GuardrailReached'
    return { code, limit, max, words: found.words, tenant, owner: tenant ?? found.owner }
  }
  return undefined
}

/** What a commit, a push or a directory does beyond the limits of the commit before. */
export function breachBetween(before: NameOutline, after: NameOutline): Breach | undefined {
  const breach = judge({ before, after }, before.guardrails) ?? moveIn(before, after)
  if (breach === undefined || breach.tenant === null) return breach
  return { ...breach, words: `${breach.words}, of tenant "${breach.tenant}"` }
}

const removalRows = limitRows.filter(({ limit }) => limit === 'removedNames')

/** More than may, of all or of a tenant. A repair may not do so either. */
export function removesNames(before: NameOutline, after: NameOutline): boolean {
  return judge({ before, after }, before.guardrails, undefined, removalRows) !== undefined
}

function moveIn({ moves, moveLimits }: NameOutline, after: NameOutline): Breach | undefined {
  if (moves === undefined || after.moves === undefined) return undefined
  if (moveLimits.all === null && moveLimits.tenants.size === 0) return undefined
  const found = movedBeyond(moveLimits, moves.to(after.moves.bundle))
  if (found === undefined) return undefined
  const { words, owner, max } = found
  return { code: 'GuardrailReached', limit: 'movedClients', max, words, owner, tenant: null }
}
